import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { balanceOf, burnRateOf } from './burnRate.ts';
import { lockAvailableBalance } from './spendOrder.ts';

/** Why a server is stopped, or its end, that a balance of zero brought about. */
export const ZERO_BALANCE = text('Zero balance');
/** How long saved data is kept without a balance. */
export const KEPT_DAYS = 14;
/** When it is first said again that it will be deleted. */
export const REMINDED_AFTER_DAYS = 7;

/**
 * Ends the zero balance of a workspace, if it has one: the caller holds its accounts and has seen that they cover an hour of
 * what is to run. Without `resumesAll` what zero stopped stays stopped, as somebody has chosen what is to run.
 */
export async function endZeroBalance(
  trx: Db,
  workspaceId: number,
  { resumesAll }: { resumesAll: boolean },
): Promise<void> {
  const { numAffectedRows } = await sql`update workspace set exhausted_at = null
    where id = ${workspaceId} and exhausted_at is not null`.execute(trx);
  if (!numAffectedRows) return;
  await sql`update workspace_meter set notices = 0, resumes_all = ${resumesAll} where client_id = ${workspaceId}`.execute(
    trx,
  );
}

/** Workspaces at zero that have got something since: what is left of a reserve starts nothing again by itself. */
export async function creditedAtZeroBalance(db: Db): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`select w.id from workspace w join workspace_meter m on m.client_id = w.id
    where w.exhausted_at is not null and ${sql.raw(balanceOf('w.id'))} > m.left_at_zero`.execute(db);
  return rows.map(({ id }) => id);
}

/** Whether a credit covers an hour of all that zero stopped: then it ends here; else somebody is to choose. */
export async function resumeAll(db: Db, workspaceId: number): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    const available = await lockAvailableBalance(trx, workspaceId);
    const { rows } = await sql<{ left: bigint }>`
      select left_at_zero as left from workspace_meter where client_id = ${workspaceId}`.execute(trx);
    const { perHour, reserve, resuming } = await burnRateOf(trx, workspaceId);
    if (available <= (rows[0]?.left ?? 0n) || available < perHour + reserve + resuming) return false;
    await endZeroBalance(trx, workspaceId, { resumesAll: true });
    return true;
  });
}

/** SQL: whether the instance `i` is kept without a balance: stopped by it or before. */
export const INSTANCE_KEPT =
  "i.kind = 'rented' and i.closed_at is null and i.desired <> 'gone' and i.status <> 'creation failed'";

/** SQL: whether the instance `i` of a workspace without a balance is still to be stopped. */
export const INSTANCE_STILL_RUNNING = `i.kind = 'rented' and i.closed_at is null and i.zero_stopped_at is null and i.desired = 'running'
  and i.status not in ('creation failed', 'terminating', 'terminated')`;

/** SQL: whether the zero balance that the workspace `w` has now ended the instance `i`. */
const INSTANCE_ENDED = `i.kind = 'rented' and exists (select 1 from instance_activity a where a.instance_id = i.id
  and a.to_status = 'terminating' and a.detail = '${ZERO_BALANCE}' and a.at >= w.exhausted_at)`;

/** SQL: `INSTANCE_ENDED` at once, as its cloud cannot stop the instance; `INSTANCE_DELETED`: after it was kept. */
const INSTANCE_LOST = `${INSTANCE_ENDED} and coalesce(i.offer ->> 'canStop', 'false') = 'false'`;
export const INSTANCE_DELETED = `${INSTANCE_ENDED} and i.offer ->> 'canStop' = 'true'`;

/** Until when things are kept, how many are, how many could not be, and whether a credit came; null without a zero balance. */
export async function zeroBalanceSummary(
  db: Db,
  workspaceId: number,
): Promise<{ keptUntil: Date; kept: number; lost: number; credited: boolean } | null> {
  const { rows } = await sql<{ keptUntil: Date; kept: number; lost: number; credited: boolean }>`
    select w.exhausted_at + make_interval(days => ${KEPT_DAYS}) as "keptUntil",
      (select count(*)::int from instance i where i.workspace_id = w.id and ${sql.raw(INSTANCE_KEPT)}) as kept,
      (select count(*)::int from instance i where i.workspace_id = w.id and ${sql.raw(INSTANCE_LOST)}) as lost,
      ${sql.raw(balanceOf('w.id'))} > coalesce((select left_at_zero from workspace_meter where client_id = w.id), 0) as credited
    from workspace w where w.id = ${workspaceId} and w.exhausted_at is not null`.execute(db);
  return rows[0] ?? null;
}

export interface ServerName {
  id: number;
  title: string;
  slug: string;
}

/** What has become of the servers of a workspace whose balance is zero: at most 100 of each. */
export async function outcomeOfServers(
  db: Db,
  workspaceId: number,
): Promise<{ kept: ServerName[]; lost: ServerName[]; deleted: ServerName[] }> {
  const of = async (which: string) =>
    (
      await sql<ServerName>`select i.id, i.title, i.slug from workspace w join instance i on i.workspace_id = w.id
        where w.id = ${workspaceId} and ${sql.raw(which)} order by i.title, i.id limit ${NAMED_MOST}`.execute(db)
    ).rows;
  return { kept: await of(INSTANCE_KEPT), lost: await of(INSTANCE_LOST), deleted: await of(INSTANCE_DELETED) };
}

const NAMED_MOST = 100;

interface Held extends ServerName {
  /** Micro-STAGI an hour more once it runs. */
  added: bigint;
}

/** What a balance of zero stopped, and until when it is kept. */
export async function zeroBalanceDetails(
  db: Db,
  workspaceId: number,
): Promise<{ keptUntil: Date | null; held: Held[]; lost: ServerName[]; otherPerHour: bigint }> {
  const { rows } = await sql<{ until: Date | null }>`
    select exhausted_at + make_interval(days => ${KEPT_DAYS}) as until from workspace where id = ${workspaceId}`.execute(
    db,
  );
  const keptUntil = rows[0]?.until ?? null;
  if (!keptUntil) return { keptUntil, held: [], lost: [], otherPerHour: 0n };
  const held = await sql<Held>`select id, title, slug, price_per_hour - stopped_price_per_hour as added from instance
    where workspace_id = ${workspaceId} and kind = 'rented' and closed_at is null and zero_stopped_at is not null
      and desired <> 'gone' order by title, id`.execute(db);
  const { perHour, reserve } = await burnRateOf(db, workspaceId);
  const { lost } = await outcomeOfServers(db, workspaceId);
  return { keptUntil, held: held.rows, lost, otherPerHour: perHour + reserve };
}
