import { api } from '@stagi/contract/api.ts';
import { LANGUAGES } from '@stagi/contract/languages.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { changeStorage, credit } from '../billing/meteredWorkspace.ts';
import { endZeroBalance } from '../billing/zero.ts';
import { inTransaction } from '../db/pool.ts';
import { verifyLedger } from '../ledger/verify.ts';
import { transitionStorage } from '../storages/status.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { aRentedInstance, aStorage } from '../testing/factories.ts';
import { waitForBlockedStatements } from '../testing/locks.ts';
import { mailsTo, type Person } from '../testing/person.ts';
import { meterDueWorkspaces, reactToBalances } from './worker.ts';
import { enforceZeroBalances } from './zeroBalance.ts';

/** Before now, which is when what is done about it happens. */
const START = '2024-03-01T14:00:00Z';
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** A million micro-STAGI a second: whatever there is lasts seconds. */
const DEAR = 730n * 3_600n * 1_000_000n;

let app: TestApp;
let alice: Person;
let storage: number;
beforeAll(async () => {
  // No worker runs: the tests call the loops themselves.
  app = await startTestApp({ STARTER_CREDIT: '0' }, { role: 'api' });
  const { db } = app.ctx;
  await sql`create table clock (at timestamptz not null)`.execute(db);
  await sql`insert into clock values (${START}::timestamptz)`.execute(db);
  await sql`create or replace function metering_clock() returns timestamptz language sql volatile as 'select at from clock'`.execute(
    db,
  );
});
afterAll(() => app?.close());

/** A storage that is billed from `START` on and has used up the balance ten seconds later. */
beforeEach(async () => {
  await settleAll();
  await after(0);
  alice = await app.signUp();
  storage = await aStorage(app.ctx, alice);
  await sql`update storage set title = 'Winter data', price_per_month = ${DEAR} where id = ${storage}`.execute(
    app.ctx.db,
  );
  await credit(app.ctx.db, alice.workspaceId, 'card', 10_000_000n);
  await changeStorage(app.ctx.db, storage, {});
});

/** Nothing of another test is due any more. */
const settleAll = () =>
  sql`update segment set ended_at = metered_until, settled = true where not settled`.execute(app.ctx.db);

const after = (ms: number) =>
  sql`update clock set at = ${new Date(Date.parse(START) + ms).toISOString()}::timestamptz`.execute(app.ctx.db);

async function look(): Promise<void> {
  await meterDueWorkspaces(app.ctx, MINUTE_MS);
  await reactToBalances(app.ctx);
}

async function runOut(): Promise<void> {
  await after(10_000);
  await look();
  expect((await alice.client(api.billing.balance, {})).exhausted).toBe(true);
}

async function state() {
  const { rows } = await sql<{ status: string; reason: string | null; desired: string; billed: boolean }>`
    select status, status_reason as reason, desired, exists (select 1 from segment s where s.kind = 'storage'
      and s.resource_id = d.id and s.ended_at is null) as billed from storage d where id = ${storage}`.execute(
    app.ctx.db,
  );
  return rows[0]!;
}

const told = async () => (await mailsTo(app.url, alice.email)).filter(({ text }) => text.includes('/profile/balance'));

it('is kept for 14 days without a balance, unpaid, then deleted: with four notices that name it, each once', async () => {
  await runOut();
  expect(await alice.client(api.billing.balance, {})).toMatchObject({
    clientBalance: { STAGI: { decimalValue: '0.00' } },
    daysLeft: 0,
    zero: { storages: 1, kept: 0, lost: 0, credited: false, keptUntil: '2024-03-15T14:00:10.000Z' },
  });
  expect((await alice.client(api.billing.zero, {})).storages).toMatchObject([{ id: storage, title: 'Winter data' }]);
  const texts = async () => (await told()).map(({ text }) => text);
  expect(await texts()).toEqual([expect.stringContaining('Read-only storages: Winter data')]);
  await after(10_000 + 7 * DAY_MS);
  await look();
  await look();
  expect(await texts()).toHaveLength(2);
  await after(10_000 + 13 * DAY_MS);
  await look();
  expect(await texts()).toHaveLength(3);
  await after(10_000 + 14 * DAY_MS);
  await look();
  expect(await state()).toMatchObject({ status: 'rented', desired: 'kept', billed: true });

  await after(10_001 + 14 * DAY_MS);
  await look();
  await look();
  expect(await state()).toEqual({ status: 'terminating', reason: 'Zero balance', desired: 'gone', billed: false });
  expect(await texts()).toHaveLength(4);
  const [last] = await told();
  expect(last!.subject).toContain('were deleted');
  expect(last!.text).toContain('Deleted storages: Winter data');
  const { rows } = await sql<{ charged: bigint; uncollected: bigint; settled: boolean }>`
    select charged, uncollected, settled from segment where kind = 'storage' and resource_id = ${storage}`.execute(
    app.ctx.db,
  );
  expect(rows).toEqual([
    { charged: 10_000_000n, uncollected: BigInt(14 * 86_400) * 1_000_000n + 1_000n, settled: true },
  ]);
  expect((await verifyLedger(app.ctx.db)).findings).toEqual([]);
});

it('tells the pages of its storages when they become read-only, and when they can be written again', async () => {
  const events: (number | null)[] = [];
  const stop = app.ctx.bus.subscribe('changed', ({ entity, id, workspaceId }) => {
    if (entity === 'storage' && workspaceId === alice.workspaceId) events.push(id);
  });
  try {
    await runOut();
    await expect.poll(() => events).toEqual([null]);
    await credit(app.ctx.db, alice.workspaceId, 'card', 3_600_000_000n);
    await reactToBalances(app.ctx);
    await expect.poll(() => events).toEqual([null, null]);
  } finally {
    stop();
  }
});

it('is named beside servers in every language', async () => {
  await aRentedInstance(app.ctx, alice, 'stopped');
  for (const language of LANGUAGES) {
    await alice.client(api.user.edit, { language });
    await sql`update workspace set exhausted_at = null where id = ${alice.workspaceId}`.execute(app.ctx.db);
    await sql`update workspace_meter set notices = 0 where client_id = ${alice.workspaceId}`.execute(app.ctx.db);
    await after(10_000);
    await meterDueWorkspaces(app.ctx, 0);
    await reactToBalances(app.ctx);
    const [newest] = await told();
    expect(newest!.text, language).toMatch(/Server \d+/);
    expect(newest!.text, language).toContain('Winter data');
    await after(11_000);
  }
  expect(new Set((await told()).map(({ subject }) => subject)).size).toBe(LANGUAGES.length);
});

it('is not deleted when a credit came, and is written to again once it covers an hour', async () => {
  await runOut();
  await after(10_000 + 13 * DAY_MS);
  await credit(app.ctx.db, alice.workspaceId, 'card', 1_000_000n);
  await after(10_001 + 14 * DAY_MS);
  await enforceZeroBalances(app.ctx);
  expect(await state()).toMatchObject({ status: 'rented', desired: 'kept' });
  expect(await alice.client(api.billing.balance, {})).toMatchObject({ exhausted: true, zero: { credited: true } });
  await credit(app.ctx.db, alice.workspaceId, 'card', 3_599_000_000n);
  await reactToBalances(app.ctx);
  expect(await alice.client(api.billing.balance, {})).toMatchObject({ exhausted: false, zero: null });
});

it('is not deleted when the zero balance ends while its row is locked', async () => {
  await runOut();
  await after(10_001 + 14 * DAY_MS);
  const other = await app.ctx.db.startTransaction().execute();
  await sql`select 1 from storage where id = ${storage} for no key update`.execute(other);
  const following = enforceZeroBalances(app.ctx);
  await waitForBlockedStatements(app.ctx.db);
  await inTransaction(app.ctx.db, (trx) => endZeroBalance(trx, alice.workspaceId, { resumesAll: true }));
  await other.commit().execute();
  await following;
  expect(await state()).toMatchObject({ status: 'rented', desired: 'kept' });
});

it('is told of, also when it is gone before the notice is written', async () => {
  await runOut();
  await after(10_001 + 14 * DAY_MS);
  await enforceZeroBalances(app.ctx);
  await inTransaction(app.ctx.db, (trx) => transitionStorage(app.ctx, trx, storage, 'deleted', {}));
  await reactToBalances(app.ctx);
  const [last] = await told();
  expect(last!.text).toContain('Deleted storages: Winter data');
});

it('leaves log buckets alone, and what was never made', async () => {
  const server = await aRentedInstance(app.ctx, alice, 'terminated');
  await sql`insert into storage (workspace_id, kind, slug, title, size_gb, location, price_per_month, instance_id, status)
    values (${alice.workspaceId}, 'log', ${`log-${server}`}, 'Logs', 100, 'local', 0, ${server}, 'rented')`.execute(
    app.ctx.db,
  );
  const failed = await aStorage(app.ctx, alice, 'creation failed');
  await runOut();
  await after(10_001 + 14 * DAY_MS);
  await enforceZeroBalances(app.ctx);
  const { rows } = await sql<{ status: string }>`select status from storage
    where workspace_id = ${alice.workspaceId} and (kind = 'log' or id = ${failed}) order by id`.execute(app.ctx.db);
  expect(rows.map(({ status }) => status)).toEqual(['rented', 'creation failed']);
  expect((await state()).status).toBe('terminating');
});
