import { asMicro } from '@stagi/contract/money.ts';
import { sql } from 'kysely';
import { inTransaction, openPool, type Pool } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { accountOf, openAccounts, openSystemAccounts } from './accounts.ts';
import { post } from './ledger.ts';

/** A database whose metering clock stands still until it is set. */
export interface ClockedDatabase {
  db: Db;
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
