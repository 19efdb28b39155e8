import { api } from '@stagi/contract/api.ts';
import type { Instance } from '@stagi/contract/instances.ts';
import { asMicro } from '@stagi/contract/money.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { accountOf } from '../billing/accounts.ts';
import { post } from '../billing/ledger.ts';
import { syncSegments } from '../billing/segments.ts';
import { inTransaction } from '../db/pool.ts';
import { type CloudApp, rentServer, startCloudApp, viewInstance, waitForStatus } from '../testing/cloudApp.ts';
import { mailsTo, type Person } from '../testing/person.ts';

const SLOW = 60_000;
/** The price of an hour of one running server. */
const RUNNING = 92_000n;

let app: CloudApp;
let bob: Person;
let servers: Instance[];
beforeAll(async () => {
  app = await startCloudApp({ METERING_SECONDS: '1' });
});
afterAll(() => app?.close());
beforeEach(async () => {
  bob = await app.signUp();
  servers = [await rentServer(bob), await rentServer(bob)];
  for (const { id } of servers) await waitForStatus(bob, id, 'online', SLOW);
}, SLOW);

const DEAR = 10n ** 12n;

/** Sets a price that uses up the balance at once, then waits until everything is stopped and settled. */
async function burnDown(): Promise<void> {
  const ids = servers.map(({ id }) => id);
  await setPrice(ids, DEAR);
  await expect.poll(async () => (await balance()).exhausted, { timeout: SLOW }).toBe(true);
  await setPrice(ids, RUNNING);
  for (const id of ids) await waitForStatus(bob, id, 'stopped', SLOW);
  // Use between the last charge and the stop is still owed, and a credit would pay for it.
  const owing = async () =>
    (
      await sql`select 1 from segment where client_id = ${bob.workspaceId} and rate = 'running' and not settled`.execute(
        app.ctx.db,
      )
    ).rows;
  await expect.poll(owing, { timeout: SLOW }).toEqual([]);
}

async function setPrice(ids: number[], price: bigint): Promise<void> {
  for (const id of ids)
    await inTransaction(app.ctx.db, async (trx) => {
      await sql`update instance set price_per_hour = ${price} where id = ${id}`.execute(trx);
      await syncSegments(trx, id);
    });
}

let credits = 0;
async function credit(micro: bigint): Promise<void> {
  credits += 1;
  const { workspaceId } = bob;
  await inTransaction(app.ctx.db, (trx) =>
    post(trx, 'promo', `zero-test:${credits}`, workspaceId, [
      { account: 'promo', amount: asMicro(-micro) },
      { account: accountOf(workspaceId, 'credit'), amount: asMicro(micro) },
    ]),
  );
}

const balance = () => bob.client(api.billing.balance, {});
const heldIds = async () => (await bob.client(api.billing.zero, {})).instances.map(({ id }) => id);
const subjects = async () => (await mailsTo(app.url, bob.email)).map(({ subject }) => subject);
const exhaustedSince = (days: number) =>
  sql`update workspace set exhausted_at = now() - make_interval(days => ${days}, mins => 1) where id = ${bob.workspaceId}`.execute(
    app.ctx.db,
  );

it('stops all servers at exactly zero, sends a mail, and a credit for an hour of all starts them again', {
  timeout: 120_000,
}, async () => {
  await burnDown();
  for (const { id } of servers)
    expect(await viewInstance(bob, id)).toMatchObject({ status: 'stopped', statusReason: 'Zero balance' });
  expect(await balance()).toMatchObject({
    clientBalance: { STAGI: { decimalValue: '0.00' } },
    exhausted: true,
    daysLeft: 0,
  });
  const { userProfile } = await bob.client(api.user.profile, {});
  expect(userProfile.clientRelations[0]?.hourlyPaidServicesDaysLeft).toBe(0);
  await expect
    .poll(subjects, { timeout: SLOW })
    .toEqual(expect.arrayContaining([expect.stringContaining('has no STAGI left')]));
  await expect(rentServer(bob)).rejects.toMatchObject({ status: 200 });
  await expect(bob.client(api.instances.start, { id: servers[0]!.id })).rejects.toMatchObject({ status: 200 });
  expect((await heldIds()).sort((a, b) => a - b)).toEqual(servers.map(({ id }) => id));

  await credit(2n * RUNNING + 10_000n);
  for (const { id } of servers) await waitForStatus(bob, id, 'online', SLOW);
  expect((await balance()).exhausted).toBe(false);
  expect(await heldIds()).toEqual([]);
});

it('lets members choose servers when a credit does not cover all of them', { timeout: 120_000 }, async () => {
  const [first, second] = servers;
  await burnDown();
  await credit(RUNNING / 2n);
  await expect(bob.client(api.billing.resume, { instanceIds: [first!.id] })).rejects.toMatchObject({
    status: 200,
    message: expect.stringContaining('must cover an hour'),
  });
  await credit(RUNNING);
  await bob.client(api.billing.resume, { instanceIds: [first!.id] });
  await waitForStatus(bob, first!.id, 'online', SLOW);
  await expect.poll(heldIds, { timeout: SLOW }).toEqual([]);
  expect((await balance()).exhausted).toBe(false);
  const held = async () =>
    (await sql`select 1 from instance where id = ${second!.id} and zero_stopped_at is not null`.execute(app.ctx.db))
      .rows;
  await expect.poll(held, { timeout: SLOW }).toEqual([]);
  expect((await viewInstance(bob, second!.id)).status).toBe('stopped');
});

it('keeps stopped servers for 14 days, with notices before they are deleted', { timeout: 120_000 }, async () => {
  await burnDown();
  const told = (words: string) =>
    expect.poll(async () => (await subjects()).filter((subject) => subject.includes(words)).length, { timeout: SLOW });
  await told('has no STAGI left').toBe(1);
  await exhaustedSince(7);
  await told('will be deleted on').toBe(1);
  await exhaustedSince(13);
  await told('will be deleted on').toBe(2);
  expect((await viewInstance(bob, servers[0]!.id)).status).toBe('stopped');
  await exhaustedSince(14);
  for (const { id } of servers) await waitForStatus(bob, id, 'terminated', SLOW);
  await told('were deleted').toBe(1);
  // Unpaid use is written off, and the balance never went below zero.
  const { rows } = await sql<{
    least: bigint;
  }>`select min(balance) as least from account where client_id is not null`.execute(app.ctx.db);
  expect(rows[0]!.least).toBe(0n);
  await expect
    .poll(
      async () =>
        (
          await sql<{ off: bigint }>`select (select coalesce(sum(uncollected - forgiven), 0)::bigint from segment)
            + (select balance from account where code = 'writeoff') as off`.execute(app.ctx.db)
        ).rows[0]!.off,
      { timeout: SLOW },
    )
    .toBe(0n);
});
