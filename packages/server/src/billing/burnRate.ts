import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';

/** Statuses in which a rented machine runs at its provider, or is on its way. */
export const RUNNING_STATUSES = ['in queue', 'creating', 'online', 'rebooting', 'unresponsive', 'powering on'] as const;

/** SQL: whether an instance `i` of the workspace `w` waits for a credit, or for somebody who chooses it: it is not to run. */
const WAITS = (w: string): string => `(i.zero_stopped_at is not null and (${w}.exhausted_at is not null
    or not coalesce((select m.resumes_all from workspace_meter m where m.client_id = ${w}.id), true)))`;

/**
 * SQL: what an instance `i` of the workspace `w` costs an hour, now or as soon as it has come up. One that waits costs its
 * disk, once it has one; one that a credit is about to start again costs its price already.
 */
const PER_HOUR = (w: string): string => `case
    when i.status in ('in queue', 'creating') then case when ${WAITS(w)} then 0 else i.price_per_hour end
    when i.status in ('online', 'rebooting', 'unresponsive', 'powering on')
      or (i.status = 'error' and i.machine_state = 'running' and i.desired = 'running')
      then case when ${WAITS(w)} then i.stopped_price_per_hour else i.price_per_hour end
    when i.status in ('stopped', 'powering off') or (i.status = 'error' and i.machine_state in ('running', 'stopped'))
      then case when i.zero_stopped_at is null or ${WAITS(w)} then i.stopped_price_per_hour else i.price_per_hour end
    else 0 end`;

const OPEN = (w: string): string =>
  `from instance i where i.workspace_id = ${w}.id and i.kind = 'rented' and i.closed_at is null`;

/** SQL: micro-STAGI an hour that the workspace `w` spends now, with what is on its way. */
export const perHourOf = (w: string): string => `(select coalesce(sum(${PER_HOUR(w)}), 0)::bigint ${OPEN(w)})`;

/** SQL: micro-STAGI that must be left in the workspace `w`, so that what its cloud cannot stop can leave in order. */
export const reserveOf = (w: string): string => `(select coalesce(sum(i.price_per_hour / 2), 0)::bigint ${OPEN(w)}
  and i.offer ->> 'canStop' = 'false' and ${PER_HOUR(w)} > 0)`;

/** SQL: micro-STAGI an hour that it takes to start again what zero stopped in the workspace `w`, beyond what it costs stopped. */
export const resumingOf = (w: string): string => `(select coalesce(sum(i.price_per_hour - case
    when i.status in ('in queue', 'creating') then 0 else i.stopped_price_per_hour end), 0)::bigint
  ${OPEN(w)} and i.zero_stopped_at is not null and i.status not in ('terminating', 'creation failed'))`;

/** SQL: micro-STAGI that the workspace of `id` can spend. */
export const balanceOf = (id: string): string => `(select coalesce(sum(a.balance), 0)::bigint
  from account a where a.client_id = ${id} and a.code not like '%:held')`;

/**
 * SQL: days that the balance of the workspace `w` lasts at its current rate, in thousandths rounded down; null while nothing
 * is spent. The balance is read only where something is: this is part of what is read at every call.
 */
export const daysLeftOf = (w: string): string => `case when ${w}.exhausted_at is not null then 0 else
  (select case when rate.per_hour > 0 then trunc(${balanceOf(`${w}.id`)}::numeric / (rate.per_hour * 24), 3) end
    from (select ${perHourOf(w)} as per_hour) rate) end`;

export async function readBalance(db: Db, workspaceId: number): Promise<bigint> {
  const { rows } = await sql<{ balance: bigint }>`
    select ${sql.raw(balanceOf('w.id'))} as balance from workspace w where w.id = ${workspaceId}`.execute(db);
  return rows[0]?.balance ?? 0n;
}

export interface BurnRate {
  /** Micro-STAGI an hour for what runs now and for what is on its way. */
  perHour: bigint;
  /** What must be left beside it, so that what cannot be stopped can leave in order. */
  reserve: bigint;
  /** What starting again all that zero stopped adds an hour. */
  resuming: bigint;
}

export async function burnRateOf(db: Db, workspaceId: number): Promise<BurnRate> {
  const { rows } =
    await sql<BurnRate>`select ${sql.raw(perHourOf('w'))} as "perHour", ${sql.raw(reserveOf('w'))} as reserve,
    ${sql.raw(resumingOf('w'))} as resuming from workspace w where w.id = ${workspaceId}`.execute(db);
  return rows[0] ?? { perHour: 0n, reserve: 0n, resuming: 0n };
}
