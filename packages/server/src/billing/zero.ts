import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import { announce } from '../bus/bus.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { balanceOf, burnRateOf } from './burnRate.ts';
import { lockAvailableBalance } from './spendOrder.ts';

/** Why a server was stopped or a server or storage ended, where a balance of zero brought it about. */
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
  // Its buckets can be written again.
  await announce(trx, 'changed', { entity: 'storage', id: null, workspaceId });
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

/** SQL: whether the storage `d` is kept without a balance; its bucket is read-only then. */
export const STORAGE_KEPT =
  "d.kind = 'storage' and d.closed_at is null and d.desired <> 'gone' and d.status <> 'creation failed'";

/** SQL: whether the zero balance that the workspace `w` has now ended the storage `d`, after it was kept. */
export const STORAGE_DELETED = `d.kind = 'storage' and d.status in ('terminating', 'deleted')
  and d.status_reason = '${ZERO_BALANCE}' and d.status_since >= w.exhausted_at`;

interface ZeroBalanceSummary {
  keptUntil: Date;
  /** Servers. */
  kept: number;
  lost: number;
  /** Storages that are kept. */
  storages: number;
  credited: boolean;
}

/** Until when things are kept, how many are, how many could not be, and whether a credit came; null without a zero balance. */
export async function zeroBalanceSummary(db: Db, workspaceId: number): Promise<ZeroBalanceSummary | null> {
  const { rows } = await sql<ZeroBalanceSummary>`
    select w.exhausted_at + make_interval(days => ${KEPT_DAYS}) as "keptUntil",
      (select count(*)::int from instance i where i.workspace_id = w.id and ${sql.raw(INSTANCE_KEPT)}) as kept,
      (select count(*)::int from instance i where i.workspace_id = w.id and ${sql.raw(INSTANCE_LOST)}) as lost,
      (select count(*)::int from storage d where d.workspace_id = w.id and ${sql.raw(STORAGE_KEPT)}) as storages,
      ${sql.raw(balanceOf('w.id'))} > coalesce((select left_at_zero from workspace_meter where client_id = w.id), 0) as credited
    from workspace w where w.id = ${workspaceId} and w.exhausted_at is not null`.execute(db);
  return rows[0] ?? null;
}

/** Of a server or a storage. */
export interface Named {
  id: number;
  title: string;
  slug: string;
}

/** What has become of the servers and storages of a workspace whose balance is zero: at most 100 of each. */
export async function zeroBalanceOutcome(
  db: Db,
  workspaceId: number,
): Promise<{
  servers: { kept: Named[]; lost: Named[]; deleted: Named[] };
  storages: { kept: Named[]; deleted: Named[] };
}> {
  const servers = async (which: string) =>
    (
      await sql<Named>`select i.id, i.title, i.slug from workspace w join instance i on i.workspace_id = w.id
        where w.id = ${workspaceId} and ${sql.raw(which)} order by i.title, i.id limit ${NAMED_MOST}`.execute(db)
    ).rows;
  const storages = async (which: string) =>
    (
      await sql<Named>`select d.id, d.title, d.slug from workspace w join storage d on d.workspace_id = w.id
        where w.id = ${workspaceId} and ${sql.raw(which)} order by d.title, d.id limit ${NAMED_MOST}`.execute(db)
    ).rows;
  return {
    servers: {
      kept: await servers(INSTANCE_KEPT),
      lost: await servers(INSTANCE_LOST),
      deleted: await servers(INSTANCE_DELETED),
    },
    storages: { kept: await storages(STORAGE_KEPT), deleted: await storages(STORAGE_DELETED) },
  };
}

const NAMED_MOST = 100;

interface Held extends Named {
  /** Micro-STAGI an hour more once it runs. */
  added: bigint;
}

/** What a balance of zero stopped, the storages that it keeps from being written, and until when they are kept. */
export async function zeroBalanceDetails(
  db: Db,
  workspaceId: number,
): Promise<{ keptUntil: Date | null; held: Held[]; lost: Named[]; storages: Named[]; otherPerHour: bigint }> {
  const { rows } = await sql<{ until: Date | null }>`
    select exhausted_at + make_interval(days => ${KEPT_DAYS}) as until from workspace where id = ${workspaceId}`.execute(
    db,
  );
  const keptUntil = rows[0]?.until ?? null;
  if (!keptUntil) return { keptUntil, held: [], lost: [], storages: [], otherPerHour: 0n };
  const held = await sql<Held>`select id, title, slug, price_per_hour - stopped_price_per_hour as added from instance
    where workspace_id = ${workspaceId} and kind = 'rented' and closed_at is null and zero_stopped_at is not null
      and desired <> 'gone' order by title, id`.execute(db);
  const { perHour, reserve } = await burnRateOf(db, workspaceId);
  const { servers, storages } = await zeroBalanceOutcome(db, workspaceId);
  return { keptUntil, held: held.rows, lost: servers.lost, storages: storages.kept, otherPerHour: perHour + reserve };
}
