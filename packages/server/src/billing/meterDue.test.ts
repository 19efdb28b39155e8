import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { inTransaction } from '../db/pool.ts';
import { transitionInstance } from '../instances/status.ts';
import { stopServers } from '../instances/stopServers.ts';
import { verifyLedger } from '../ledger/verify.ts';
import { meterDueWorkspaces } from '../metering/worker.ts';
import { createTestDatabase } from '../testing/database.ts';
import { waitForBlockedStatements } from '../testing/locks.ts';
import { pageOfTransactions } from '../transactions/list.ts';
import { aWorkspaceWith, type ClockedDatabase, clockDatabase, credit, serversOf } from './meteredWorkspace.ts';
import { meterWorkspace } from './meterWorkspace.ts';

const SECOND = 1_000_000;
const HOUR = 3_600 * SECOND;
const FIRST_PAGE = { orderByField: 'createdAt', orderByDirection: 'desc' as const, page: 1, limit: 10 };
const log = { warn() {}, error() {}, info() {} } as never;

let clocked: ClockedDatabase;
beforeAll(async () => {
  clocked = await clockDatabase(await createTestDatabase());
});
afterAll(() => clocked?.close());

/** A server that its cloud shows running from now on. */
async function run(id: number, status: 'creating' | 'online' = 'online'): Promise<void> {
  await inTransaction(clocked.db, async (trx) => {
    await sql`update instance set status = 'creating', machine_state = 'running', running_seen_at = metering_clock()
      where id = ${id} and status = 'in queue'`.execute(trx);
    await transitionInstance({ log }, trx, id, status, {});
  });
}

const settle = () =>
  sql`update segment set ended_at = metered_until, settled = true where not settled`.execute(clocked.db);

it('goes on each minute after the clock has gone back two hours', async () => {
  const workspace = await aWorkspaceWith(clocked.db, { credit: 10n ** 12n });
  const [first, second] = await serversOf(clocked.db, workspace, 2);
  await run(first!);
  await clocked.setClock(2 * HOUR);
  await meterDueWorkspaces({ db: clocked.db, log }, 60_000);
  await clocked.setClock(60 * SECOND);
  await run(second!);
  await clocked.setClock(180 * SECOND);
  expect(await meterDueWorkspaces({ db: clocked.db, log }, 60_000)).toMatchObject([{ segments: 2, charged: 120_000n }]);
  expect(await meterDueWorkspaces({ db: clocked.db, log }, 60_000)).toEqual([]);
  await settle();
});

it('makes no transaction of a day on which a stopped server cost nothing', async () => {
  const workspace = await aWorkspaceWith(clocked.db, { credit: 1_000_000n });
  const [id] = await serversOf(clocked.db, workspace, 1, { status: 'stopped', machineState: 'stopped', stopped: 0n });
  await clocked.setClock(3 * HOUR);
  await inTransaction(clocked.db, (trx) => transitionInstance({ log }, trx, id!, 'stopped', {}));
  await clocked.setClock(30 * HOUR);
  expect(await meterWorkspace(clocked.db, workspace.workspaceId)).toMatchObject({ segments: 1, charged: 0n });
  const { rows } =
    await sql`select 1 from billing_transaction where resource_kind = 'instance' and resource_id = ${id}`.execute(
      clocked.db,
    );
  expect(rows).toEqual([]);
  await settle();
});

it('makes a transaction of a day once something is paid on it, and none of what was only written off', async () => {
  const workspace = await aWorkspaceWith(clocked.db, {});
  const { workspaceId } = workspace;
  const [id] = await serversOf(clocked.db, workspace, 1, { status: 'online', machineState: 'running' });
  const transactions = async () => {
    const { entities, count } = await pageOfTransactions(clocked.db, workspaceId, { types: ['Spending'] }, FIRST_PAGE);
    expect(count).toBe(entities.length);
    return entities.map(({ day, amount }) => [day, amount.decimalValue]);
  };
  await clocked.setClock(31 * HOUR);
  await run(id!);
  await clocked.setClock(32 * HOUR);
  expect(await meterWorkspace(clocked.db, workspaceId)).toMatchObject({ charged: 0n, uncollected: 3_600_000n });
  expect(await transactions()).toEqual([]);
  await credit(clocked.db, workspaceId, 'card', 2_000_000n);
  await clocked.setClock(33 * HOUR);
  expect(await meterWorkspace(clocked.db, workspaceId)).toMatchObject({ charged: 2_000_000n });
  expect(await transactions()).toEqual([['2026-01-02', '-2.00']]);
  expect((await verifyLedger(clocked.db)).findings).toEqual([]);
  await settle();
});

it('holds the accounts that all workspaces share in one order, with something to give back and something to write off', async () => {
  await clocked.setClock(40 * HOUR);
  const workspace = await aWorkspaceWith(clocked.db, { credit: 100_000n });
  const { workspaceId } = workspace;
  const [failing, running] = await serversOf(clocked.db, workspace, 2);
  await run(failing!, 'creating');
  await clocked.setClock(40 * HOUR + 60 * SECOND);
  await meterWorkspace(clocked.db, workspaceId);
  await run(running!);
  await inTransaction(clocked.db, (trx) => transitionInstance({ log }, trx, failing!, 'creation failed', {}));
  await clocked.setClock(41 * HOUR);

  const other = await clocked.db.startTransaction().execute();
  await sql`select 1 from account where code = 'writeoff' for no key update`.execute(other);
  const ticking = meterWorkspace(clocked.db, workspaceId);
  await waitForBlockedStatements(clocked.db);
  // Whoever holds the first may have the second, and is not waited for by one who holds that already.
  await sql`select 1 from account where code = ${`revenue:usage:${workspaceId % 16}`} for no key update nowait`.execute(
    other,
  );
  await other.commit().execute();
  const tick = (await ticking)!;
  expect(tick.refunded).toBe(60_000n);
  expect(tick.uncollected > 0n).toBe(true);
  await settle();
});

it('finds a balance that is used up in its next look while an operator shuts the workspace', async () => {
  await clocked.setClock(50 * HOUR);
  const workspace = await aWorkspaceWith(clocked.db, { credit: 1_000n });
  const { workspaceId } = workspace;
  const [id] = await serversOf(clocked.db, workspace, 1);
  await run(id!);
  await clocked.setClock(50 * HOUR + 60 * SECOND);

  const operator = await clocked.db.startTransaction().execute();
  await sql`update workspace set disabled_at = now() where id = ${workspaceId}`.execute(operator);
  const ticking = meterWorkspace(clocked.db, workspaceId);
  await Promise.race([ticking, waitForBlockedStatements(clocked.db)]);
  await stopServers({ log, providers: new Map() }, operator, workspaceId, { terminate: false });
  await operator.commit().execute();
  expect(await ticking).toMatchObject({ charged: 1_000n, exhausted: 'no' });
  await clocked.setClock(50 * HOUR + 61 * SECOND);
  await meterDueWorkspaces({ db: clocked.db, log }, 60_000);
  await clocked.setClock(50 * HOUR + 121 * SECOND);
  await meterDueWorkspaces({ db: clocked.db, log }, 60_000);
  const { rows } = await sql<{ status: string }>`select status from instance where id = ${id}`.execute(clocked.db);
  expect(rows).toEqual([{ status: 'powering off' }]);
});
