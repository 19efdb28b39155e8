import { HOURS_PER_MONTH } from '@stagi/contract/storageRules.ts';
import { sql } from 'kysely';
import type pg from 'pg';
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

const STORAGES = (w: string): string =>
  `from storage d where d.workspace_id = ${w}.id and d.kind = 'storage' and d.closed_at is null`;

/** SQL: micro-STAGI an hour for the storages of the workspace `w`, rounded up. A zero balance changes nothing about it. */
const STORAGES_PER_HOUR = (w: string): string =>
  `(select ceil(coalesce(sum(d.price_per_month), 0) / ${HOURS_PER_MONTH}) ${STORAGES(w)} and d.status in ('renting', 'rented'))`;

/** SQL: micro-STAGI an hour that the workspace `w` spends now, with what is on its way. */
export const perHourOf = (w: string): string =>
  `(select (coalesce(sum(${PER_HOUR(w)}), 0) + ${STORAGES_PER_HOUR(w)})::bigint ${OPEN(w)})`;

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

/** SQL: whether the workspace `w` has a rented server or a storage that is not closed: without one it spends nothing. */
export const hasRentalsOf = (w: string): string => `(exists (select ${OPEN(w)}) or exists (select ${STORAGES(w)}))`;

/** Days that the balance of each workspace lasts at its current rate, in thousandths rounded down; null while nothing is spent. */
export async function readDaysLeft(pg: pg.Pool, workspaceIds: readonly number[]): Promise<Map<number, number | null>> {
  const { rows } = await pg.query<{ id: number; days: number | null }>({ ...DAYS_LEFT, values: [workspaceIds] });
  return new Map(rows.map(({ id, days }) => [id, days]));
}

const DAYS_LEFT = {
  name: 'days-left',
  text: `select id, case when exhausted_at is not null then 0
      when per_hour > 0 then trunc(balance::numeric / (per_hour * 24), 3)::float8 end as days
    from (select w.id, w.exhausted_at, ${balanceOf('w.id')} as balance, ${perHourOf('w')} as per_hour
      from workspace w where w.id = any($1::int[])) rate`,
};

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
