import { setTimeout as pause } from 'node:timers/promises';
import { api } from '@stagi/contract/api.ts';
import { CallError } from '@stagi/contract/errors.ts';
import { asMicro, toDecimal } from '@stagi/contract/money.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { credit } from '../billing/meteredWorkspace.ts';
import { meterWorkspace } from '../billing/meterWorkspace.ts';
import { syncSegments } from '../billing/segments.ts';
import { charge } from '../billing/testing/books.ts';
import { verifyLedger } from '../ledger/verify.ts';
import type { Provider } from '../providers/provider.ts';
import { aKey, type CloudApp, CPU_OFFER, rentServer, startCloudApp, waitForStatus } from '../testing/cloudApp.ts';
import { aPromoCode, aRentedInstance } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';

/** Micro-STAGI: an hour of one server, and what must be left beside it where its cloud cannot stop it. */
const HOUR = 92_000n;
const RESERVE = HOUR / 2n;
/** The same machine in a cloud that cannot stop it. */
const METAL_OFFER = CPU_OFFER.replace('fake:', 'metal:');
const AT_ONCE = 20;
const REFUSED = /^The balance must cover an hour of everything that runs: [\d.]+ STAGI needed, [\d.]+ available$/;

let app: CloudApp;
let kim: Person;
let keyId: number;
let raced = 0;

/** A person whose plan allows more servers than their balance. */
async function aRacer(): Promise<void> {
  kim = await app.signUp('Kim');
  await app.ctx.db.updateTable('workspace').set({ plan: 'Team' }).where('id', '=', kim.workspaceId).execute();
  keyId = await aKey(kim);
}

/** Runs calls concurrently and returns the refusals' messages; calls refused for a moment (409, 503) are retried. */
async function race(...racers: (() => Promise<unknown>)[]): Promise<{ accepted: number; refusals: string[] }> {
  const outcomes = await Promise.all(racers.map(outcome));
  raced += outcomes.length;
  return {
    accepted: outcomes.filter((message) => message === null).length,
    refusals: outcomes.filter((message) => message !== null),
  };
}

async function outcome(act: () => Promise<unknown>): Promise<string | null> {
  for (const deadline = Date.now() + 60_000; ; await pause(50)) {
    const error: unknown = await act().then(
      () => null,
      (reason: unknown) => reason,
    );
    if (error === null) return null;
    if (!(error instanceof CallError)) throw error;
    if (error.status === 200) return error.message;
    if (![409, 503].includes(error.status) || Date.now() > deadline) throw error;
  }
}

let rents = 0;
/** Each with its own idempotency key, which a retry reuses. */
function rent(offerId = CPU_OFFER): () => Promise<unknown> {
  rents += 1;
  const input = { offerId, title: `Racer ${rents}`, slug: `racer-${rents}`, sshKeyId: keyId };
  const idempotencyKey = crypto.randomUUID();
  return () => kim.client(api.instances.rent, input, { idempotencyKey });
}

const times = <T>(n: number, make: (n: number) => T): T[] => Array.from({ length: n }, (_, index) => make(index));

let booked = 0;
async function setBalance(micro: bigint): Promise<void> {
  const { db } = app.ctx;
  const { rows } = await sql<{ balance: bigint }>`select sum(balance)::bigint as balance from account
    where client_id = ${kim.workspaceId}`.execute(db);
  const over = rows[0]!.balance - micro;
  booked += 1;
  if (over > 0n) await charge(db, kim.workspaceId, `spent:${booked}`, asMicro(over));
  else await credit(db, kim.workspaceId, 'card', -over);
}

/** What is stored of the servers of the race. */
async function stored() {
  const { rows } = await sql<{ servers: number; keys: number; segments: number; holds: number; activities: number }>`
    select count(*)::int as servers,
      (select count(*)::int from instance_ssh_key k join instance r on r.id = k.instance_id
        where r.workspace_id = ${kim.workspaceId} and r.slug like 'racer-%') as keys,
      (select count(*)::int from segment s join instance r on s.kind = 'instance' and r.id = s.resource_id
        where r.workspace_id = ${kim.workspaceId} and r.slug like 'racer-%') as segments,
      (select count(*)::int from hold where workspace_id = ${kim.workspaceId}) as holds,
      (select count(*)::int from instance_activity a join instance r on r.id = a.instance_id
        where r.workspace_id = ${kim.workspaceId} and r.slug like 'racer-%') as activities
    from instance where workspace_id = ${kim.workspaceId} and slug like 'racer-%'`.execute(app.ctx.db);
  return rows[0]!;
}

const balance = () => kim.client(api.billing.balance, {});

/** Without workers: accepted servers stay in their first status. */
describe('of many concurrent rents on a balance for one', () => {
  beforeAll(async () => {
    app = await startCloudApp({}, { role: 'api' });
    addMetal(app);
  });
  afterAll(async () => {
    console.log(`rents at once on a balance for one: n = ${raced} calls, one accepted of each round`);
    expect(raced).toBeGreaterThan(150);
    await app?.close();
  });
  beforeEach(aRacer);

  it.each([
    ['one is accepted', CPU_OFFER, HOUR, '0.00'],
    ['one is accepted', CPU_OFFER, HOUR * 2n - 1n, '0.00'],
    ['one is accepted, its reserve too, where the cloud cannot stop it', METAL_OFFER, HOUR + RESERVE, '0.046'],
    [
      'one is accepted, its reserve too, where the cloud cannot stop it',
      METAL_OFFER,
      2n * (HOUR + RESERVE) - 1n,
      '0.046',
    ],
  ])('%s: %s on %s micro-STAGI', async (_, offerId, micro, reserve) => {
    await setBalance(micro);
    const { accepted, refusals } = await race(...times(AT_ONCE, () => rent(offerId)));
    expect(accepted).toBe(1);
    expect(refusals.filter((message) => !REFUSED.test(message))).toEqual([]);
    expect(await stored()).toEqual({ servers: 1, keys: 1, segments: 0, holds: 0, activities: 1 });
    expect(await balance()).toMatchObject({
      clientBalance: { STAGI: { decimalValue: toDecimal(micro) } },
      burnPerHour: '0.092',
      reserve,
    });
    expect((await kim.client(api.instances.list, {})).totalCount).toBe(1);
  });

  it('none is accepted where one micro-STAGI is missing', async () => {
    for (const [offerId, micro] of [
      [CPU_OFFER, HOUR - 1n],
      [METAL_OFFER, HOUR + RESERVE - 1n],
    ] as const) {
      await setBalance(micro);
      const { accepted, refusals } = await race(...times(AT_ONCE / 2, () => rent(offerId)));
      expect([accepted, refusals.filter((message) => REFUSED.test(message)).length]).toEqual([0, AT_ONCE / 2]);
    }
    expect((await stored()).servers).toBe(0);
  });

  /** A workspace at zero with servers that zero stopped and others that a person did; one more runs and is metered. */
  async function aWorkspaceAtZero(micro: bigint): Promise<{ held: number[]; stopped: number[] }> {
    const { db } = app.ctx;
    const make = async (count: number, status: string) => {
      const ids: number[] = [];
      for (let n = 0; n < count; n += 1) ids.push(await aRentedInstance(app.ctx, kim, status));
      return ids;
    };
    const [held, stopped, running] = [await make(4, 'stopped'), await make(4, 'stopped'), await make(1, 'online')];
    // Its price is so small that a minute of this test is none of the amounts that matter.
    await sql`update instance set price_per_hour = case when id = any(${running}::int[]) then 60 else ${HOUR} end,
      machine_state = case when id = any(${running}::int[]) then 'running' else 'stopped' end,
      zero_stopped_at = case when id = any(${held}::int[]) then now() end
      where workspace_id = ${kim.workspaceId}`.execute(db);
    for (const id of [...held, ...stopped, ...running]) await syncSegments(db, id);
    await setBalance(micro + 200n);
    await sql`update workspace set exhausted_at = now() where id = ${kim.workspaceId}`.execute(db);
    return { held, stopped };
  }

  function everyWay({ held, stopped }: { held: number[]; stopped: number[] }): (() => Promise<unknown>)[] {
    return [
      ...times(8, () => rent()),
      ...times(4, () => rent(METAL_OFFER)),
      ...held.map((id) => () => kim.client(api.billing.resume, { instanceIds: [id] })),
      ...stopped.map((id) => () => kim.client(api.instances.start, { id })),
    ];
  }

  /** Metering at the same time: it locks the same rows. */
  const ticks = () => times(6, () => meterWorkspace(app.ctx.db, kim.workspaceId));

  async function started(): Promise<number> {
    const { rows } = await sql<{ n: number }>`select count(*)::int as n from instance
      where workspace_id = ${kim.workspaceId} and status in ('in queue', 'powering on')`.execute(app.ctx.db);
    return rows[0]!.n;
  }

  it.each([1, 2])('one of renting, starting and resuming at zero is accepted (round %i)', async () => {
    const servers = await aWorkspaceAtZero(HOUR + RESERVE);
    const [{ accepted, refusals }] = await Promise.all([race(...everyWay(servers)), ...ticks()]);
    expect(refusals.filter((message) => !REFUSED.test(message))).toEqual([]);
    expect([accepted, await started(), refusals.length]).toEqual([1, 1, AT_ONCE - 1]);
    expect(await balance()).toMatchObject({ exhausted: false });
  });

  it.each([1, 2])('and one more when a promo code comes in between (round %i)', async () => {
    const servers = await aWorkspaceAtZero(HOUR + RESERVE);
    const { code } = await aPromoCode(app.ctx, { micro: HOUR });
    const idempotencyKey = crypto.randomUUID();
    let activated = 0;
    const activate = async () => {
      await kim.client(api.promoCodes.activate, { promoCode: code }, { idempotencyKey });
      activated += 1;
    };
    const [{ accepted, refusals }] = await Promise.all([
      race(...everyWay(servers).toSpliced(10, 0, activate)),
      ...ticks(),
    ]);
    expect(activated).toBe(1);
    expect(refusals.filter((message) => !REFUSED.test(message))).toEqual([]);
    // Calls before the promo code saw a smaller balance. In total two fit, and never three.
    const { accepted: later } = await race(...times(3, () => rent()));
    expect([accepted - activated + later, await started()]).toEqual([2, 2]);
  });

  it('leaves a ledger that adds up', async () => {
    expect((await verifyLedger(app.ctx.db)).findings).toEqual([]);
  });
});

describe('the accepted rent', () => {
  let working: CloudApp;
  beforeAll(async () => {
    working = await startCloudApp();
    addMetal(working);
    app = working;
  });
  afterAll(() => working?.close());
  beforeEach(aRacer);

  it('is one machine and one interval, with its reserve', async () => {
    // What it has cost until it is looked at.
    await setBalance(HOUR + RESERVE + 10_000n);
    const { accepted } = await race(...times(AT_ONCE, () => rent(METAL_OFFER)));
    expect(accepted).toBe(1);
    const { entities } = await kim.client(api.instances.list, {});
    expect(entities).toHaveLength(1);
    await waitForStatus(kim, entities[0]!.id, 'online', 60_000);
    expect(await working.machinesOf(entities[0]!.id)).toHaveLength(1);
    const { rows } = await sql`select resource_id, rate, price, reserve, ended_at is null as open from segment
      where client_id = ${kim.workspaceId}`.execute(working.ctx.db);
    expect(rows).toEqual([
      { resource_id: entities[0]!.id, rate: 'running', price: HOUR, reserve: RESERVE, open: true },
    ]);
    await expect(rentServer(kim)).rejects.toThrow(REFUSED);
  });
});

/** The simulated cloud once more, as one that cannot stop its machines. */
function addMetal({ ctx }: CloudApp): void {
  const providers = ctx.providers as Map<string, Provider>;
  const fake = providers.get('fake')!;
  providers.set('metal', { ...fake, name: 'metal', title: 'Bare metal', traits: { ...fake.traits, canStop: false } });
}
