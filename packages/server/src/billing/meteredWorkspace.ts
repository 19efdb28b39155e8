import { asMicro } from '@stagi/contract/money.ts';
import { MICRO_PER_GB_MONTH, type StorageStatus } from '@stagi/contract/storageRules.ts';
import { sql } from 'kysely';
import type pg from 'pg';
import { inTransaction, openPool, type Pool } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { accountOf, openAccounts, openSystemAccounts } from './accounts.ts';
import { post } from './ledger.ts';
import { syncStorageSegment } from './storageSegments.ts';

/** A database whose metering clock stands still until it is set. */
export interface ClockedDatabase {
  db: Db;
  pg: pg.Pool;
  /** Microseconds since 2026-01-01 UTC. */
  setClock(micros: number): Promise<void>;
  close(): Promise<void>;
}

const EPOCH = "timestamptz '2026-01-01 00:00:00Z'";

/** For tests: of a fresh database of theirs. */
export async function clockDatabase(database: { url: string; drop(): Promise<void> }): Promise<ClockedDatabase> {
  const pool: Pool = openPool(database.url);
  await sql`create table clock (at timestamptz not null)`.execute(pool.db);
  await sql.raw(`insert into clock values (${EPOCH})`).execute(pool.db);
  await sql`create or replace function metering_clock() returns timestamptz language sql volatile as 'select at from clock'`.execute(
    pool.db,
  );
  await openSystemAccounts(pool.db);
  return {
    db: pool.db,
    pg: pool.pg,
    async setClock(micros) {
      await sql.raw(`update clock set at = ${EPOCH} + ${micros} * interval '1 microsecond'`).execute(pool.db);
    },
    async close() {
      await pool.close();
      await database.drop();
    },
  };
}

let made = 0;

/** A workspace with accounts that hold this. */
export async function aWorkspaceWith(
  db: Db,
  balances: { credit?: bigint; card?: bigint; onchain?: bigint },
): Promise<{ workspaceId: number; userId: number }> {
  made += 1;
  const n = made;
  const { id: userId } = await db
    .insertInto('app_user')
    .values({ email: `metered${n}@example.com`, name: `Metered ${n}` })
    .returning('id')
    .executeTakeFirstOrThrow();
  const { id: workspaceId } = await db
    .insertInto('workspace')
    .values({ name: `Metered ${n}` })
    .returning('id')
    .executeTakeFirstOrThrow();
  await inTransaction(db, async (trx) => {
    await openAccounts(trx, workspaceId);
    for (const kind of ['credit', 'card', 'onchain'] as const)
      await credit(trx, workspaceId, kind, balances[kind] ?? 0n);
  });
  return { workspaceId, userId };
}

let credits = 0;

export async function credit(
  db: Db,
  workspaceId: number,
  kind: 'credit' | 'card' | 'onchain',
  amount: bigint,
): Promise<void> {
  if (amount === 0n) return;
  credits += 1;
  const key = `test:${workspaceId}:${credits}`;
  await inTransaction(db, (trx) =>
    post(trx, kind === 'credit' ? 'promo' : 'deposit', key, workspaceId, [
      { account: kind === 'credit' ? 'promo' : 'world:deposit', amount: asMicro(-amount) },
      { account: accountOf(workspaceId, kind), amount: asMicro(amount) },
    ]),
  );
}

/** `count` rented servers with these prices, in this status. */
export async function serversOf(
  db: Db,
  { workspaceId, userId }: { workspaceId: number; userId: number },
  count: number,
  change: { status?: string; running?: bigint; stopped?: bigint; machineState?: string | null; canStop?: boolean } = {},
): Promise<number[]> {
  const { status = 'in queue', running = 3_600_000n, stopped = 0n, machineState = null, canStop = true } = change;
  made += 1;
  const { rows } = await sql<{ id: number }>`
    insert into instance (workspace_id, kind, slug, title, created_by, status, provider, machine_state, offer,
      price_per_hour, stopped_price_per_hour)
    select ${workspaceId}::int, 'rented', ${`m${made}-`} || n, 'Server ' || n, ${userId}::int, ${status}, 'nowhere', ${machineState},
      ${JSON.stringify({ canStop, gpu: null })}::jsonb, ${running}::bigint, ${stopped}::bigint
    from generate_series(1, ${count}) n returning id`.execute(db);
  return rows.map(({ id }) => id);
}

/** `count` storages of this size's price a month, in this status. */
export async function storagesOf(
  db: Db,
  { workspaceId, userId }: { workspaceId: number; userId: number },
  count: number,
  change: { status?: StorageStatus; pricePerMonth?: bigint } = {},
): Promise<number[]> {
  const { status = 'renting', pricePerMonth = MICRO_PER_GB_MONTH } = change;
  made += 1;
  const { rows } = await sql<{ id: number }>`
    insert into storage (workspace_id, kind, slug, title, size_gb, location, price_per_month, created_by, status, next_at)
    select ${workspaceId}::int, 'storage', ${`d${made}-`} || n, 'Storage ' || n, 1, 'local', ${pricePerMonth}::bigint,
      ${userId}::int, ${status}, null
    from generate_series(1, ${count}) n returning id`.execute(db);
  return rows.map(({ id }) => id);
}

/** Changes a storage now, as the room of storages does: its row and its segment together. */
export async function changeStorage(
  db: Db,
  id: number,
  change: { status?: StorageStatus; pricePerMonth?: bigint },
): Promise<void> {
  await inTransaction(db, async (trx) => {
    const { status = null, pricePerMonth = null } = change;
    await sql`update storage set status = coalesce(${status}, status),
        price_per_month = coalesce(${pricePerMonth}::bigint, price_per_month),
        closed_at = case when ${status} = 'deleted' then clock_timestamp() else closed_at end
      where id = ${id}`.execute(trx);
    await syncStorageSegment(trx, id);
  });
}
