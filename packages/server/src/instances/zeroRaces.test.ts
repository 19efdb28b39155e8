import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { meterWorkspace } from '../billing/meter.ts';
import { credit, serversOf } from '../billing/meteredWorkspace.ts';
import { leaveZero } from '../billing/zero.ts';
import { sendZeroNotices } from '../billing/zeroNotices.ts';
import { inTransaction } from '../db/pool.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { waitsForLock } from '../testing/locks.ts';
import type { Person } from '../testing/person.ts';
import { storedSubjects } from '../testing/storedMails.ts';
import { resumeChosen } from './resume.ts';
import { moveInstance } from './status.ts';
import { followZeroBalances } from './zeroBalance.ts';

let app: TestApp;
let alice: Person;
beforeAll(async () => {
  // Nothing follows a balance here but the tests.
  app = await startTestApp({ STARTER_CREDIT: '0' }, { role: 'api' });
});
afterAll(() => app?.close());
beforeEach(async () => {
  alice = await app.signUp();
});

/** Without a balance for so many days. */
async function atZero({ days = 0, notices = 1 } = {}): Promise<void> {
  await sql`update workspace set exhausted_at = now() - make_interval(days => ${days}, secs => 60)
    where id = ${alice.workspaceId}`.execute(app.ctx.db);
  await sql`insert into workspace_meter (client_id, metered_at, notices) values (${alice.workspaceId}, now(), ${notices})
    on conflict (client_id) do update set notices = excluded.notices`.execute(app.ctx.db);
}

/** A server that the balance of zero holds in this status. */
async function held(status: string): Promise<number> {
  const [id] = await serversOf(app.ctx.db, alice, 1, { status, stopped: 3_600_000n, machineState: 'stopped' });
  await sql`update instance set zero_stopped_at = now(), desired = ${status === 'stopped' ? 'stopped' : 'running'}
    where id = ${id}`.execute(app.ctx.db);
  return id!;
}

const move = (id: number, status: string, shows: string) =>
  inTransaction(app.ctx.db, async (trx) => {
    await sql`update instance set machine_state = ${shows} where id = ${id}`.execute(trx);
    await moveInstance(app.ctx, trx, id, status, {});
  });

async function stateOf(id: number): Promise<{ status: string; held: boolean; rate: string | null }> {
  const { rows } = await sql<{ status: string; held: boolean; rate: string | null }>`select i.status,
    i.zero_stopped_at is not null as held, s.rate from instance i
    left join segment s on s.instance_id = i.id and s.ended_at is null where i.id = ${id}`.execute(app.ctx.db);
  return rows[0]!;
}

/** Somebody works on the server while its balance is followed, and the zero balance ends meanwhile. */
async function endsMeanwhile(id: number): Promise<void> {
  const other = await app.ctx.db.startTransaction().execute();
  await sql`select 1 from instance where id = ${id} for no key update`.execute(other);
  const following = followZeroBalances(app.ctx);
  await waitsForLock(app.ctx.db);
  await inTransaction(app.ctx.db, (trx) => leaveZero(trx, alice.workspaceId, { resumesAll: true }));
  await sql`update instance set status_seen_at = now() where id = ${id}`.execute(other);
  await other.commit().execute();
  await following;
}

it('terminates no server of a balance that is no longer zero when its turn comes', async () => {
  const [id] = await serversOf(app.ctx.db, alice, 1, { status: 'online', machineState: 'running', canStop: false });
  await atZero();
  await endsMeanwhile(id!);
  expect((await stateOf(id!)).status).toBe('online');
});

it('deletes nothing after 14 days when a credit comes at that moment', async () => {
  const id = await held('stopped');
  await atZero({ days: 14 });
  await endsMeanwhile(id);
  expect((await stateOf(id)).status).not.toBe('terminating');
});

it('keeps those stopped that nobody chose, also when they were on their way up', async () => {
  const [chosen, goesOn, other] = [await held('stopped'), await held('rebooting'), await held('rebooting')];
  await atZero();
  await credit(app.ctx.db, alice.workspaceId, 'credit', 100_000_000n);
  const caller = { ...app.ctx, user: { id: alice.userId }, workspace: { id: alice.workspaceId } };
  await resumeChosen(caller, [chosen, goesOn]);
  expect(await stateOf(chosen)).toMatchObject({ status: 'powering on', held: false });
  expect(await stateOf(goesOn)).toEqual({ status: 'rebooting', held: false, rate: 'running' });

  await followZeroBalances(app.ctx);
  expect(await stateOf(other)).toMatchObject({ status: 'rebooting', held: true });
  await move(other, 'online', 'running');
  expect(await stateOf(other)).toMatchObject({ rate: 'stopped' });
  await followZeroBalances(app.ctx);
  expect(await stateOf(other)).toMatchObject({ status: 'powering off', rate: 'stopped' });
  await move(other, 'stopped', 'stopped');
  await followZeroBalances(app.ctx);
  expect(await stateOf(other)).toEqual({ status: 'stopped', held: false, rate: 'stopped' });
  expect(await stateOf(goesOn)).toMatchObject({ status: 'rebooting', held: false });
});

it('keeps what a credit pays for beyond the 14 days, and for 14 days more when it is used up', async () => {
  const id = await held('stopped');
  await move(id, 'stopped', 'stopped');
  await sql`update segment set started_at = now() - interval '1 hour', metered_until = now() - interval '1 hour'
    where instance_id = ${id}`.execute(app.ctx.db);
  await atZero({ days: 14, notices: 3 });
  await credit(app.ctx.db, alice.workspaceId, 'credit', 1_000n);
  await followZeroBalances(app.ctx);
  expect((await stateOf(id)).status).toBe('stopped');

  expect(await meterWorkspace(app.ctx.db, alice.workspaceId)).toMatchObject({ charged: 1_000n, exhausted: 'before' });
  await followZeroBalances(app.ctx);
  expect((await stateOf(id)).status).toBe('stopped');
  await sendZeroNotices(app.ctx);
  expect(await subjects()).toEqual([expect.stringContaining('has no STAGI left')]);
  // Nothing has come since.
  await atZero({ days: 14, notices: 3 });
  await meterWorkspace(app.ctx.db, alice.workspaceId);
  await followZeroBalances(app.ctx);
  expect((await stateOf(id)).status).toBe('terminating');
});

it('announces no deletion of what a credit keeps, and begins anew when that is used up later than a reminder was due', async () => {
  const id = await held('stopped');
  await move(id, 'stopped', 'stopped');
  await sql`update segment set started_at = now() - interval '1 hour', metered_until = now() - interval '1 hour'
    where instance_id = ${id}`.execute(app.ctx.db);
  await atZero({ days: 8, notices: 1 });
  await credit(app.ctx.db, alice.workspaceId, 'credit', 1_000n);
  await sendZeroNotices(app.ctx);
  expect(await subjects()).toEqual([]);
  expect(await meterWorkspace(app.ctx.db, alice.workspaceId)).toMatchObject({ charged: 1_000n, exhausted: 'before' });
  await sendZeroNotices(app.ctx);
  expect(await subjects()).toEqual([expect.stringContaining('has no STAGI left')]);
});

it('deletes after 14 days what nobody has paid for, also where a reserve was not used to its end', async () => {
  const id = await held('stopped');
  await credit(app.ctx.db, alice.workspaceId, 'credit', 1_000n);
  await atZero({ days: 14, notices: 3 });
  await sql`update workspace_meter set left_at_zero = 1000 where client_id = ${alice.workspaceId}`.execute(app.ctx.db);
  await sql`insert into segment (client_id, instance_id, rate, price_per_hour, started_at, metered_until, confirmed)
    values (${alice.workspaceId}, ${id}, 'stopped', 3600000, now() - interval '1 hour', now() - interval '1 hour', true)`.execute(
    app.ctx.db,
  );
  expect(await meterWorkspace(app.ctx.db, alice.workspaceId)).toMatchObject({ charged: 1_000n });
  await followZeroBalances(app.ctx);
  expect((await stateOf(id)).status).toBe('terminating');
});

it('says that something was deleted once it is, and not of what could not be kept', async () => {
  const id = await held('stopped');
  await atZero({ days: 14, notices: 3 });
  await sendZeroNotices(app.ctx);
  expect(await subjects()).toEqual([]);
  await followZeroBalances(app.ctx);
  await sendZeroNotices(app.ctx);
  await sendZeroNotices(app.ctx);
  expect((await stateOf(id)).status).toBe('terminating');
  expect(await subjects()).toEqual([expect.stringContaining('were deleted')]);

  alice = await app.signUp();
  const [gone] = await serversOf(app.ctx.db, alice, 1, { status: 'online', machineState: 'running', canStop: false });
  await atZero();
  await followZeroBalances(app.ctx);
  expect((await stateOf(gone!)).status).toBe('terminating');
  await sql`update instance_activity set at = at - interval '14 days' where instance_id = ${gone}`.execute(app.ctx.db);
  await atZero({ days: 14, notices: 3 });
  await sendZeroNotices(app.ctx);
  expect(await subjects()).toEqual([]);
});

const subjects = () => storedSubjects(app.ctx, alice.email);
