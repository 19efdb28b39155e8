import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { credit, serversOf } from '../billing/meteredWorkspace.ts';
import { meterWorkspace } from '../billing/meterWorkspace.ts';
import { endZeroBalance } from '../billing/zero.ts';
import { inTransaction } from '../db/pool.ts';
import { transitionInstance } from '../instances/status.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { waitForBlockedStatements } from '../testing/locks.ts';
import type { Person } from '../testing/person.ts';
import { storedSubjects } from '../testing/storedMails.ts';
import { resumeServers } from './resume.ts';
import { enforceZeroBalances } from './zeroBalance.ts';
import { sendZeroNotices } from './zeroNotices.ts';

let app: TestApp;
let alice: Person;
beforeAll(async () => {
  // No worker runs: the tests call the loop themselves.
  app = await startTestApp({ STARTER_CREDIT: '0' }, { role: 'api' });
});
afterAll(() => app?.close());
beforeEach(async () => {
  alice = await app.signUp();
});

/** Sets the workspace's balance to have run out so many days ago. */
async function atZero({ days = 0, notices = 1 } = {}): Promise<void> {
  await sql`update workspace set exhausted_at = now() - make_interval(days => ${days}, secs => 60)
    where id = ${alice.workspaceId}`.execute(app.ctx.db);
  await sql`insert into workspace_meter (client_id, metered_at, notices) values (${alice.workspaceId}, now(), ${notices})
    on conflict (client_id) do update set notices = excluded.notices`.execute(app.ctx.db);
}

/** A server in this status that a zero balance stopped or is to stop. */
async function held(status: string): Promise<number> {
  const [id] = await serversOf(app.ctx.db, alice, 1, { status, stopped: 3_600_000n, machineState: 'stopped' });
  await sql`update instance set zero_stopped_at = now(), desired = ${status === 'stopped' ? 'stopped' : 'running'}
    where id = ${id}`.execute(app.ctx.db);
  return id!;
}

const move = (id: number, status: string, shows: string) =>
  inTransaction(app.ctx.db, async (trx) => {
    await sql`update instance set machine_state = ${shows} where id = ${id}`.execute(trx);
    await transitionInstance(app.ctx, trx, id, status, {});
  });

async function stateOf(id: number): Promise<{ status: string; held: boolean; rate: string | null }> {
  const { rows } = await sql<{ status: string; held: boolean; rate: string | null }>`select i.status,
    i.zero_stopped_at is not null as held, s.rate from instance i
    left join segment s on s.kind = 'instance' and s.resource_id = i.id and s.ended_at is null where i.id = ${id}`.execute(
    app.ctx.db,
  );
  return rows[0]!;
}

/** Another transaction locks the server while the loop runs, and ends the zero balance meanwhile. */
async function endZeroDuringLoop(id: number): Promise<void> {
  const other = await app.ctx.db.startTransaction().execute();
  await sql`select 1 from instance where id = ${id} for no key update`.execute(other);
  const following = enforceZeroBalances(app.ctx);
  await waitForBlockedStatements(app.ctx.db);
  await inTransaction(app.ctx.db, (trx) => endZeroBalance(trx, alice.workspaceId, { resumesAll: true }));
  await sql`update instance set status_seen_at = now() where id = ${id}`.execute(other);
  await other.commit().execute();
  await following;
}

it('terminates no server whose balance is no longer zero when it is locked', async () => {
  const [id] = await serversOf(app.ctx.db, alice, 1, { status: 'online', machineState: 'running', canStop: false });
  await atZero();
  await endZeroDuringLoop(id!);
  expect((await stateOf(id!)).status).toBe('online');
});

it('deletes nothing after 14 days when a credit comes at the same time', async () => {
  const id = await held('stopped');
  await atZero({ days: 14 });
  await endZeroDuringLoop(id);
  expect((await stateOf(id)).status).not.toBe('terminating');
});

it('keeps servers stopped that nobody chose, also those that were starting', async () => {
  const [chosen, goesOn, other] = [await held('stopped'), await held('rebooting'), await held('rebooting')];
  await atZero();
  await credit(app.ctx.db, alice.workspaceId, 'credit', 100_000_000n);
  const caller = { ...app.ctx, user: { id: alice.userId }, workspace: { id: alice.workspaceId } };
  await resumeServers(caller, [chosen, goesOn]);
  expect(await stateOf(chosen)).toMatchObject({ status: 'powering on', held: false });
  expect(await stateOf(goesOn)).toEqual({ status: 'rebooting', held: false, rate: 'running' });

  await enforceZeroBalances(app.ctx);
  expect(await stateOf(other)).toMatchObject({ status: 'rebooting', held: true });
  await move(other, 'online', 'running');
  expect(await stateOf(other)).toMatchObject({ rate: 'stopped' });
  await enforceZeroBalances(app.ctx);
  expect(await stateOf(other)).toMatchObject({ status: 'powering off', rate: 'stopped' });
  await move(other, 'stopped', 'stopped');
  await enforceZeroBalances(app.ctx);
  expect(await stateOf(other)).toEqual({ status: 'stopped', held: false, rate: 'stopped' });
  expect(await stateOf(goesOn)).toMatchObject({ status: 'rebooting', held: false });
});

it('keeps servers that a credit pays for, and for 14 days more when it is used up', async () => {
  const id = await held('stopped');
  await move(id, 'stopped', 'stopped');
  await sql`update segment set started_at = now() - interval '1 hour', metered_until = now() - interval '1 hour'
    where kind = 'instance' and resource_id = ${id}`.execute(app.ctx.db);
  await atZero({ days: 14, notices: 3 });
  await credit(app.ctx.db, alice.workspaceId, 'credit', 1_000n);
  await enforceZeroBalances(app.ctx);
  expect((await stateOf(id)).status).toBe('stopped');

  expect(await meterWorkspace(app.ctx.db, alice.workspaceId)).toMatchObject({ charged: 1_000n, exhausted: 'before' });
  await enforceZeroBalances(app.ctx);
  expect((await stateOf(id)).status).toBe('stopped');
  await sendZeroNotices(app.ctx);
  expect(await subjects()).toEqual([expect.stringContaining('has no STAGI left')]);
  // No credit has come since.
  await atZero({ days: 14, notices: 3 });
  await meterWorkspace(app.ctx.db, alice.workspaceId);
  await enforceZeroBalances(app.ctx);
  expect((await stateOf(id)).status).toBe('terminating');
});

it('sends no reminder while a credit keeps the servers, and starts over when it is used up', async () => {
  const id = await held('stopped');
  await move(id, 'stopped', 'stopped');
  await sql`update segment set started_at = now() - interval '1 hour', metered_until = now() - interval '1 hour'
    where kind = 'instance' and resource_id = ${id}`.execute(app.ctx.db);
  await atZero({ days: 8, notices: 1 });
  await credit(app.ctx.db, alice.workspaceId, 'credit', 1_000n);
  await sendZeroNotices(app.ctx);
  expect(await subjects()).toEqual([]);
  expect(await meterWorkspace(app.ctx.db, alice.workspaceId)).toMatchObject({ charged: 1_000n, exhausted: 'before' });
  await sendZeroNotices(app.ctx);
  expect(await subjects()).toEqual([expect.stringContaining('has no STAGI left')]);
});

it('deletes unpaid servers after 14 days, also when a part of a reserve is left', async () => {
  const id = await held('stopped');
  await credit(app.ctx.db, alice.workspaceId, 'credit', 1_000n);
  await atZero({ days: 14, notices: 3 });
  await sql`update workspace_meter set left_at_zero = 1000 where client_id = ${alice.workspaceId}`.execute(app.ctx.db);
  await sql`insert into segment (client_id, kind, resource_id, rate, price, started_at, metered_until, confirmed)
    values (${alice.workspaceId}, 'instance', ${id}, 'stopped', 3600000, now() - interval '1 hour', now() - interval '1 hour', true)`.execute(
    app.ctx.db,
  );
  expect(await meterWorkspace(app.ctx.db, alice.workspaceId)).toMatchObject({ charged: 1_000n });
  await enforceZeroBalances(app.ctx);
  expect((await stateOf(id)).status).toBe('terminating');
});

it('sends the notice of deletion once servers are deleted, and not for those that could not be kept', async () => {
  const id = await held('stopped');
  await atZero({ days: 14, notices: 3 });
  await sendZeroNotices(app.ctx);
  expect(await subjects()).toEqual([]);
  await enforceZeroBalances(app.ctx);
  await sendZeroNotices(app.ctx);
  await sendZeroNotices(app.ctx);
  expect((await stateOf(id)).status).toBe('terminating');
  expect(await subjects()).toEqual([expect.stringContaining('were deleted')]);

  alice = await app.signUp();
  const [gone] = await serversOf(app.ctx.db, alice, 1, { status: 'online', machineState: 'running', canStop: false });
  await atZero();
  await enforceZeroBalances(app.ctx);
  expect((await stateOf(gone!)).status).toBe('terminating');
  await sql`update instance_activity set at = at - interval '14 days' where instance_id = ${gone}`.execute(app.ctx.db);
  await atZero({ days: 14, notices: 3 });
  await sendZeroNotices(app.ctx);
  expect(await subjects()).toEqual([]);
});

const subjects = () => storedSubjects(app.ctx, alice.email);
