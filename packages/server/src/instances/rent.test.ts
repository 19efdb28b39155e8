import { api } from '@stagi/contract/api.ts';
import { CallError, fieldErrors } from '@stagi/contract/errors.ts';
import { asMicro, MICRO } from '@stagi/contract/money.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { accountOf, openAccounts } from '../billing/accounts.ts';
import { post } from '../billing/ledger.ts';
import type { Provider } from '../providers/provider.ts';
import {
  aKey,
  type CloudApp,
  CPU_OFFER,
  GPU_OFFER,
  rentServer,
  startCloudApp,
  waitForStatus,
} from '../testing/cloudApp.ts';
import type { Person } from '../testing/person.ts';

let app: CloudApp;
let alice: Person;
beforeAll(async () => {
  app = await startCloudApp();
});
afterAll(() => app?.close());
beforeEach(async () => {
  alice = await app.signUp();
});

/** What the call was refused with. */
async function refusal(promise: Promise<unknown>): Promise<CallError> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof CallError)) throw new Error(`not refused: ${error}`);
  return error;
}

describe('renting', () => {
  it('answers at once and brings the server online, with the time of every step', async () => {
    const rented = await rentServer(alice, { title: 'My first', slug: 'my-first' });
    expect(rented).toMatchObject({
      status: 'in queue',
      title: 'My first',
      slug: 'my-first',
      provider: 'fake',
      providerTitle: 'Simulated cloud',
      region: 'eu-sim-1',
      hostUsername: 'ubuntu',
      ip: null,
      cpu: { cores: 4 },
      ramGb: 16,
      gpu: null,
      canStop: true,
      logBucket: { storageId: expect.any(Number), usedBytes: 0, sizeGb: 100 },
      // The provider's 0.08 and the markup of 15 %.
      pricePerHour: { STAGI: { currency: 'STAGI', decimalValue: '0.092' }, USD: { currency: 'USD' } },
      createdBy: expect.stringContaining('Person'),
      containerCount: 0,
      freeCpus: 4,
    });
    expect(rented.statusDeadline).not.toBeNull();
    const online = await waitForStatus(alice, rented.id, 'online');
    expect(online.ip).toMatch(/^203\.0\.113\./);
    expect(online.statusDeadline).toBeNull();
    expect(online.progress.map(({ step, at }) => [step, at !== null])).toEqual([
      ['capacity', true],
      ['booting', true],
      ['daemon', true],
      ['ready', true],
    ]);
    expect(await app.machinesOf(rented.id)).toHaveLength(1);
    const { entities } = await alice.client(api.instances.activities, { id: rented.id });
    expect(entities.map(({ kind, from, to }) => [kind, from, to])).toEqual([
      ['status', 'creating', 'online'],
      ['status', 'in queue', 'creating'],
      ['rented', null, 'in queue'],
    ]);
    expect(entities[2]!.actor).toMatch(/^Person/);
  });

  it('adds its price to the burn rate of the workspace', async () => {
    await rentServer(alice);
    const { burnPerHour, daysLeft } = await alice.client(api.billing.balance, {});
    expect(burnPerHour).toBe('0.092');
    expect(daysLeft).toBeCloseTo(50 / 0.092 / 24, 2);
    const { userProfile } = await alice.client(api.user.profile, {});
    expect(userProfile.clientRelations[0]!.hourlyPaidServicesDaysLeft).toBeCloseTo(daysLeft!, 2);
  });

  it('creates one server when the same request is retried with its idempotency key', async () => {
    const sshKeyId = await aKey(alice);
    const input = { offerId: CPU_OFFER, title: 'once', slug: 'once', sshKeyId };
    const idempotencyKey = crypto.randomUUID();
    const first = await alice.client(api.instances.rent, input, { idempotencyKey });
    const again = await Promise.allSettled(
      Array.from({ length: 10 }, () => alice.client(api.instances.rent, input, { idempotencyKey })),
    );
    const bodies = again.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    expect(bodies.length).toBeGreaterThan(0);
    expect(new Set(bodies.map(({ entity }) => entity.id))).toEqual(new Set([first.entity.id]));
    expect((await alice.client(api.instances.list, {})).totalCount).toBe(1);
    await waitForStatus(alice, first.entity.id, 'online');
    expect(await app.machinesOf(first.entity.id)).toHaveLength(1);
  });
});

describe('renting is refused under the field', () => {
  it.each([
    [{ title: ' ' }, 'title', 'Title is required'],

    [{ slug: '' }, 'slug', 'Unique ID is required'],
    [{ slug: 'a' }, 'slug', 'Unique ID must be at least 3 characters'],
    [{ slug: 'a--b' }, 'slug', 'Unique ID may contain only letters, digits and single hyphens between them'],
    [{ slug: 'my server' }, 'slug', 'Unique ID may contain only letters, digits and single hyphens between them'],
    [{ offerId: '' }, 'offerId', 'Offer is required'],
    [{ maxPricePerHour: 'cheap' }, 'maxPricePerHour', 'Price must be a number'],
    [{ sshKeyId: 999_999 }, 'sshKeyId', 'This SSH key cannot be found'],
  ])('%j', async (change, field, message) => {
    const error = await refusal(rentServer(alice, change));
    expect(error.status).toBe(400);
    expect(fieldErrors(error)).toEqual({ [field]: message });
  });

  it('when the key is somebody else’s', async () => {
    const bob = await app.signUp();
    const error = await refusal(rentServer(alice, { sshKeyId: await aKey(bob) }));
    expect(fieldErrors(error)).toEqual({ sshKeyId: 'This SSH key cannot be found' });
  });

  it('when the Unique ID is taken in this workspace, and not when it is in another', async () => {
    await rentServer(alice, { slug: 'taken-here' });
    expect(fieldErrors(await refusal(rentServer(alice, { slug: 'Taken-Here' })))).toEqual({
      slug: 'This Unique ID is taken',
    });
    await rentServer(await app.signUp(), { slug: 'taken-here' });
  });
});

describe('renting is refused', () => {
  it.each(['fake:no-such-offer', 'nowhere:sim-cpu-4', 'sim-cpu-4'])('when the offer %s is gone', async (offerId) => {
    const error = await refusal(rentServer(alice, { offerId }));
    expect(error.status).toBe(200);
    expect(error.message).toBe('This server is no longer available. Choose another one.');
  });

  it('when the offer is sold out', async () => {
    await app.control.capacity('sim-a100-1', 0);
    await expect
      .poll(
        async () => {
          const { entities } = await alice.client(api.hardware.offers, {});
          return entities.find(({ offerId }) => offerId === 'fake:sim-a100-1')?.availability;
        },
        { interval: 200 },
      )
      .toBe('none');
    const error = await refusal(rentServer(alice, { offerId: 'fake:sim-a100-1' }));
    expect(error.message).toBe('This server is no longer available. Choose another one.');
  });

  it('when the price has risen above the one that was shown', async () => {
    const error = await refusal(rentServer(alice, { maxPricePerHour: '0.0919' }));
    expect(error.message).toBe('The price has risen to 0.092 STAGI an hour. Look again before you rent.');
    await rentServer(alice, { maxPricePerHour: '0.092' });
  });

  it('when the balance covers less than an hour of everything', async () => {
    await app.ctx.db.updateTable('workspace').set({ plan: 'Team' }).where('id', '=', alice.workspaceId).execute();
    await rentServer(alice, { offerId: 'fake:sim-h100-8' });
    const error = await refusal(rentServer(alice, { offerId: 'fake:sim-h100-8' }));
    expect(error.status).toBe(200);
    expect(error.message).toBe(
      'The balance must cover an hour of everything that runs: 55.20 STAGI needed, 50.00 available',
    );
  });

  it('when the plan allows no more GPU servers, in another free workspace of the same person too', async () => {
    await rentServer(alice, { offerId: GPU_OFFER });
    const message = 'GPU servers that your plan allows at a time: 1';
    expect((await refusal(rentServer(alice, { offerId: GPU_OFFER }))).message).toBe(message);
    alice.useWorkspace(await aSecondWorkspace(alice));
    expect((await refusal(rentServer(alice, { offerId: GPU_OFFER }))).message).toBe(message);
    await rentServer(alice);
  });

  it('when more are asked for at once than the plan allows', async () => {
    const sshKeyId = await aKey(alice);
    const results = await Promise.allSettled(
      Array.from({ length: 8 }, (_, n) => rentServer(alice, { slug: `at-once-${n}`, sshKeyId })),
    );
    const reasons = results.flatMap((result) => (result.status === 'rejected' ? [String(result.reason.message)] : []));
    expect(reasons).toEqual(Array.from({ length: 3 }, () => 'CPU-only servers that your plan allows at a time: 5'));
    expect((await alice.client(api.instances.list, {})).totalCount).toBe(5);
  });
});

describe('while the offers of a cloud are not known, as after a start of the platform, renting', () => {
  /** Another cloud with nothing cached of it. */
  function aCloud(name: string, change: Partial<Provider>): string {
    const providers = app.ctx.providers as Map<string, Provider>;
    providers.set(name, { ...providers.get('fake')!, name, ...change });
    return `${name}:sim-cpu-4`;
  }

  it('waits for a cloud that is being prepared', async () => {
    let looks = 0;
    const readiness: Provider['readiness'] = async () => {
      looks += 1;
      return looks > 3 ? { state: 'ready' } : { state: 'preparing', step: 'Trying', progress: 1, since: new Date() };
    };
    const rented = await rentServer(alice, { offerId: aCloud('prepared', { readiness }) });
    expect(rented.status).toBe('in queue');
    expect(looks, 'renting did not look again while the cloud was being prepared').toBe(4);
  });

  it('is answered with 503 and Retry-After when the cloud does not answer, and succeeds with the same key when it does', async () => {
    let answers = false;
    const readiness: Provider['readiness'] = async () =>
      answers ? { state: 'ready' } : { state: 'unavailable', reason: 'down' };
    const sshKeyId = await aKey(alice);
    const input = { offerId: aCloud('silent', { readiness }), title: 'Late', slug: 'late', sshKeyId };
    const idempotencyKey = crypto.randomUUID();
    const rent = () => alice.client(api.instances.rent, input, { idempotencyKey });
    expect(await refusal(rent()), 'an offer that is not known was called gone').toMatchObject({
      status: 503,
      retryAfter: 2,
      message: 'The offers of this provider are not known at the moment. Try again in a moment.',
    });
    answers = true;
    await expect
      .poll(() => rent().catch((error: CallError) => error.status), { timeout: 60_000 })
      .toMatchObject({
        entity: { slug: 'late', status: 'in queue' },
      });
  });
});

async function aSecondWorkspace(owner: Person): Promise<number> {
  const { db } = app.ctx;
  const { id } = await db
    .insertInto('workspace')
    .values({ name: 'Second', personal_of: null })
    .returning('id')
    .executeTakeFirstOrThrow();
  await db.insertInto('membership').values({ workspace_id: id, user_id: owner.userId, role: 'Owner' }).execute();
  await openAccounts(db, id);
  await db.transaction().execute((trx) =>
    post(trx, 'starter', `test:${id}`, id, [
      { account: 'promo', amount: asMicro(-50n * MICRO) },
      { account: accountOf(id, 'credit'), amount: asMicro(50n * MICRO) },
    ]),
  );
  return id;
}
