import { GB, HOURS_PER_MONTH, MICRO_PER_GB_MONTH } from '@stagi/contract/storageRules.ts';
import { newSeed } from '@stagi/contract/testing/random.ts';
import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { inTransaction } from '../db/pool.ts';
import { verifyLedger } from '../ledger/verify.ts';
import { meterDueWorkspaces } from '../metering/worker.ts';
import { burnRateOf, hasRentalsOf, readDaysLeft } from './burnRate.ts';
import { aWorkspaceWith, changeStorage, credit, serversOf, storagesOf } from './meteredWorkspace.ts';
import { meterWorkspace } from './meterWorkspace.ts';
import { requireFirstDay } from './rentGate.ts';
import { syncStorageSegment } from './storageSegments.ts';
import { quiet as log, type MeteredBooks, openMeteredBooks, SECOND } from './testing/meteredBooks.ts';
import { creditedAtZeroBalance, resumeAll } from './zero.ts';

const HOUR = 3_600 * SECOND;
const MONTH = HOURS_PER_MONTH * HOUR;
const MONTH_US = BigInt(MONTH);

const seed = newSeed();

let books: MeteredBooks;
beforeAll(async () => {
  console.log(`bills of storages: seed ${seed}`);
  books = await openMeteredBooks();
});
afterAll(() => books?.close());
// What another test left open would be due in this one.
beforeEach(async () => {
  await sql`update segment set ended_at = metered_until, settled = true where not settled`.execute(books.db);
});

/** Each test begins later than the one before it ended. */
let begin = 0;
function nextStart(): number {
  begin += 20 * MONTH;
  return begin;
}

const rent = async (workspace: { workspaceId: number; userId: number }, pricePerMonth: bigint): Promise<number> => {
  const [id] = await storagesOf(books.db, workspace, 1, { pricePerMonth });
  await changeStorage(books.db, id!, { status: 'rented' });
  return id!;
};

async function segmentsOf(storageId: number) {
  const { rows } = await sql<{ rate: string; price: bigint; seconds: number | null; net: bigint; settled: boolean }>`
    select rate, price, extract(epoch from ended_at - started_at)::float8 as seconds,
      charged + uncollected - refunded - forgiven as net, settled
    from segment where kind = 'storage' and resource_id = ${storageId} order by id`.execute(books.db);
  return rows;
}

const spent = async (workspaceId: number, had: bigint): Promise<bigint> =>
  had - (await books.balanceOf(workspaceId)).credit!;

describe('a bill of a storage', () => {
  it('is exactly 20,000 micro-STAGI for one GB and 730 hours, however often it was charged', async () => {
    const workspace = await aWorkspaceWith(books.db, { credit: 1_000_000n });
    const start = nextStart();
    await books.setClock(start);
    await rent(workspace, MICRO_PER_GB_MONTH);
    for (let hour = 1; hour < HOURS_PER_MONTH; hour += 7) {
      await books.setClock(start + hour * HOUR + 13 * SECOND);
      await meterWorkspace(books.db, workspace.workspaceId);
    }
    await books.setClock(start + MONTH - 1);
    await meterWorkspace(books.db, workspace.workspaceId);
    expect(await spent(workspace.workspaceId, 1_000_000n)).toBe(19_999n);
    await books.setClock(start + MONTH);
    await meterWorkspace(books.db, workspace.workspaceId);
    expect(await spent(workspace.workspaceId, 1_000_000n)).toBe(20_000n);
    expect(GB).toBe(1_000_000_000);
  });

  it('is exact where a quotient rounded to its digits would be a unit too high', async () => {
    const workspace = await aWorkspaceWith(books.db, { credit: 10n ** 17n });
    const start = nextStart();
    await books.setClock(start);
    // It costs the smallest part of a micro-STAGI less than a whole number of them.
    const price = MONTH_US + 1n;
    const micros = 10n * MONTH_US - 1n;
    await rent(workspace, price);
    await books.setClock(start + Number(micros));
    await meterWorkspace(books.db, workspace.workspaceId);
    expect(await spent(workspace.workspaceId, 10n ** 17n)).toBe((price * micros) / MONTH_US);
  });

  it('comes to one total in any partition: random sizes, resizes, ends and ticks', { timeout: 240_000 }, async () => {
    const has = 10n ** 15n;
    let [storages, segments, charged] = [0, 0, 0n];
    const moment = fc.nat({ max: 12 * MONTH });
    const sizeGb = fc.integer({ min: 1, max: 10_000 });
    const life = fc.record({
      from: moment,
      sizes: fc.array(fc.record({ at: moment, sizeGb }), { maxLength: 3 }),
      end: moment,
      sizeGb,
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(life, { minLength: 1, maxLength: 4 }),
        fc.array(moment, { maxLength: 8 }),
        async (lives, ticks) => {
          const workspace = await aWorkspaceWith(books.db, { credit: has });
          const start = nextStart();
          await books.setClock(start);
          const acts: { at: number; act: () => Promise<unknown> }[] = [];
          let expected = 0n;
          for (const one of lives) {
            const [id] = await storagesOf(books.db, workspace, 1, { pricePerMonth: price(one.sizeGb) });
            const end = Math.max(one.from, one.end);
            acts.push({ at: one.from, act: () => changeStorage(books.db, id!, { status: 'rented' }) });
            let [since, gb] = [one.from, one.sizeGb];
            for (const next of one.sizes
              .filter(({ at }) => at > one.from && at < end)
              .toSorted((a, b) => a.at - b.at)) {
              acts.push({
                at: next.at,
                act: () => changeStorage(books.db, id!, { pricePerMonth: price(next.sizeGb) }),
              });
              if (next.sizeGb === gb) continue;
              expected += owed(gb, next.at - since);
              [since, gb] = [next.at, next.sizeGb];
            }
            acts.push({ at: end, act: () => changeStorage(books.db, id!, { status: 'terminating' }) });
            expected += owed(gb, end - since);
            storages += 1;
          }
          acts.push(...ticks.map((at) => ({ at, act: () => meterWorkspace(books.db, workspace.workspaceId) })));
          for (const { at, act } of acts.toSorted((a, b) => a.at - b.at)) {
            await books.setClock(start + at);
            await act();
          }
          await books.setClock(start + 13 * MONTH);
          await meterWorkspace(books.db, workspace.workspaceId);
          expect(await spent(workspace.workspaceId, has)).toBe(expected);
          const { rows } = await sql<{ n: number; open: number }>`select count(*)::int as n,
          count(*) filter (where not settled)::int as open from segment where client_id = ${workspace.workspaceId}`.execute(
            books.db,
          );
          expect(rows[0]!.open).toBe(0);
          segments += rows[0]!.n;
          charged += expected;
        },
      ),
      { seed, numRuns: 150 },
    );
    console.log(`bills of storages: n = ${storages} storages, ${segments} segments, ${charged} micro-STAGI, 0 off`);
    expect(segments).toBeGreaterThan(storages);
    expect(charged > 0n).toBe(true);
    await books.expectOneStory();
  });

  const price = (gb: number): bigint => BigInt(gb) * MICRO_PER_GB_MONTH;
  const owed = (gb: number, micros: number): bigint => (price(gb) * BigInt(micros)) / MONTH_US;
});

describe('the segment of a storage', () => {
  it('is open while it is rented, and one ends where the next size begins', async () => {
    const workspace = await aWorkspaceWith(books.db, { credit: 10n ** 9n });
    const start = nextStart();
    await books.setClock(start);
    const [id] = await storagesOf(books.db, workspace, 1, { pricePerMonth: 20_000n });
    await changeStorage(books.db, id!, {});
    expect(await segmentsOf(id!)).toEqual([]);
    await changeStorage(books.db, id!, { status: 'rented' });
    await books.setClock(start + 100 * HOUR);
    await changeStorage(books.db, id!, { pricePerMonth: 40_000n });
    // Told twice, as by two workers: nothing new.
    await inTransaction(books.db, (trx) => syncStorageSegment(trx, id!));
    await books.setClock(start + 250 * HOUR);
    await changeStorage(books.db, id!, { status: 'terminating' });
    await changeStorage(books.db, id!, { status: 'deleted' });
    await meterWorkspace(books.db, workspace.workspaceId);
    expect(await segmentsOf(id!)).toEqual([
      { rate: 'size', price: 20_000n, seconds: 360_000, net: 2_739n, settled: true },
      { rate: 'size', price: 40_000n, seconds: 540_000, net: 8_219n, settled: true },
    ]);
    const { rows } = await sql<{ touch: boolean }>`select a.ended_at = b.started_at as touch
      from segment a join segment b on (a.kind, a.resource_id) = ('storage', b.resource_id) and b.kind = 'storage' and a.id < b.id
      where a.resource_id = ${id}`.execute(books.db);
    expect(rows).toEqual([{ touch: true }]);
  });

  it('charges nothing for a creation that failed, nor while the platform cannot serve it', async () => {
    const workspace = await aWorkspaceWith(books.db, { credit: 10n ** 9n });
    const start = nextStart();
    await books.setClock(start);
    const [failed, broken] = await storagesOf(books.db, workspace, 2);
    await books.setClock(start + HOUR);
    await changeStorage(books.db, failed!, { status: 'creation failed' });
    await changeStorage(books.db, broken!, { status: 'rented' });
    await books.setClock(start + 2 * HOUR);
    await changeStorage(books.db, broken!, { status: 'error' });
    await books.setClock(start + 5 * HOUR);
    await changeStorage(books.db, broken!, { status: 'rented' });
    await meterWorkspace(books.db, workspace.workspaceId);
    expect(await segmentsOf(failed!)).toEqual([]);
    expect((await segmentsOf(broken!)).map(({ seconds }) => seconds)).toEqual([3_600, null]);
  });

  it('does not exist for a log bucket', async () => {
    const workspace = await aWorkspaceWith(books.db, {});
    const [server] = await serversOf(books.db, workspace, 1, { status: 'terminated' });
    const { rows } = await sql<{ id: number }>`
      insert into storage (workspace_id, kind, slug, title, size_gb, location, price_per_month, instance_id, status)
      values (${workspace.workspaceId}, 'log', 'log-metered', 'Logs', 100, 'local', 0, ${server}, 'renting') returning id`.execute(
      books.db,
    );
    await changeStorage(books.db, rows[0]!.id, { status: 'rented' });
    expect(await segmentsOf(rows[0]!.id)).toEqual([]);
    expect((await burnRateOf(books.db, workspace.workspaceId)).perHour).toBe(0n);
  });

  it('of a storage and of a server with the same number do not exclude each other', async () => {
    const workspace = await aWorkspaceWith(books.db, { credit: 10n ** 9n });
    await books.setClock(nextStart());
    const id = await rent(workspace, 20_000n);
    const insert = (kind: string, rate: string) =>
      sql`insert into segment (client_id, kind, resource_id, rate, price, started_at, metered_until, confirmed)
        values (${workspace.workspaceId}, ${kind}, ${id}, ${rate}, 1, metering_clock(), metering_clock(), true)`.execute(
        books.db,
      );
    await insert('instance', 'stopped');
    await expect(insert('storage', 'size')).rejects.toThrow(/segment_open|conflicting key value/);
    await expect(insert('storage', 'running')).rejects.toThrow('check constraint');
  });
});

describe('a workspace that has only storages', () => {
  /** A million micro-STAGI a second. */
  const PRICE = 730n * 3_600n * 1_000_000n;

  it('ends at exactly zero; the kept days are uncollected, and a credit is charged again', async () => {
    const workspace = await aWorkspaceWith(books.db, { credit: 10_000_001n, card: 5n });
    const { workspaceId } = workspace;
    const start = nextStart();
    await books.setClock(start);
    const id = await rent(workspace, PRICE);
    await books.setClock(start + 9 * SECOND);
    expect(await meterDueWorkspaces({ db: books.db, log }, 60_000)).toEqual([]);
    await books.setClock(start + 12 * SECOND);
    expect(await meterDueWorkspaces({ db: books.db, log }, 60_000)).toMatchObject([
      { charged: 10_000_006n, uncollected: 1_999_994n, exhausted: 'now' },
    ]);
    expect(await books.balanceOf(workspaceId)).toEqual({ credit: 0n, card: 0n, onchain: 0n, held: 0n });
    expect(await readDaysLeftOf(workspaceId)).toBe(0);
    // It is kept, and what that costs is written off.
    await books.setClock(start + 72 * SECOND);
    expect(await meterDueWorkspaces({ db: books.db, log }, 60_000)).toMatchObject([
      { charged: 0n, uncollected: 60_000_000n, exhausted: 'before' },
    ]);
    expect(await segmentsOf(id)).toMatchObject([{ seconds: null, net: 72_000_000n }]);
    expect(await creditedAtZeroBalance(books.db)).toEqual([]);

    await credit(books.db, workspaceId, 'card', 3_599_999_999n);
    expect(await creditedAtZeroBalance(books.db)).toEqual([workspaceId]);
    expect(await resumeAll(books.db, workspaceId), 'an hour of it costs one more').toBe(false);
    await credit(books.db, workspaceId, 'card', 1n);
    expect(await resumeAll(books.db, workspaceId)).toBe(true);
    expect(await exhaustedAt(workspaceId)).toBeNull();
    await books.setClock(start + 82 * SECOND);
    expect(await meterWorkspace(books.db, workspaceId)).toMatchObject({ charged: 10_000_000n, exhausted: 'no' });
    expect((await verifyLedger(books.db)).findings).toEqual([]);
  });

  it('counts as spending, at a rate rounded up, and lasts as long as its balance', async () => {
    const workspace = await aWorkspaceWith(books.db, { credit: 672n });
    const { workspaceId } = workspace;
    await books.setClock(nextStart());
    const hasRentals = async () =>
      (
        await sql<{
          has: boolean;
        }>`select ${sql.raw(hasRentalsOf('w'))} as has from workspace w where w.id = ${workspaceId}`.execute(books.db)
      ).rows[0]!.has;
    expect(await hasRentals()).toBe(false);
    const [id] = await storagesOf(books.db, workspace, 1);
    // One that is on its way counts, too: 27.4 micro-STAGI an hour.
    expect((await burnRateOf(books.db, workspaceId)).perHour).toBe(28n);
    expect(await hasRentals()).toBe(true);
    await changeStorage(books.db, id!, { status: 'rented' });
    expect((await burnRateOf(books.db, workspaceId)).perHour).toBe(28n);
    expect(await readDaysLeftOf(workspaceId)).toBe(1);
    await changeStorage(books.db, id!, { status: 'terminating' });
    expect((await burnRateOf(books.db, workspaceId)).perHour).toBe(0n);
  });

  const readDaysLeftOf = async (workspaceId: number) => (await readDaysLeft(books.pg, [workspaceId])).get(workspaceId);
  const exhaustedAt = async (workspaceId: number) => {
    const { rows } = await sql<{
      at: Date | null;
    }>`select exhausted_at as at from workspace where id = ${workspaceId}`.execute(books.db);
    return rows[0]!.at;
  };
});

describe('creating a storage', () => {
  it('needs its first day beside an hour of everything that runs and the reserves', async () => {
    const workspace = await aWorkspaceWith(books.db, { credit: 5_400_000n + 28n + 659n });
    await serversOf(books.db, workspace, 1, { status: 'online', running: 3_600_000n, canStop: false });
    await storagesOf(books.db, workspace, 1);
    const gate = () =>
      inTransaction(books.db, (trx) => requireFirstDay(trx, workspace.workspaceId, MICRO_PER_GB_MONTH));
    // A day of one GB costs 657.5 micro-STAGI.
    expect(await gate()).toBe(5_400_687n);
    await sql`update storage set price_per_month = price_per_month + 730 where workspace_id = ${workspace.workspaceId}`.execute(
      books.db,
    );
    expect(await gate()).toBe(5_400_687n);
    await sql`update storage set price_per_month = price_per_month + 730 where workspace_id = ${workspace.workspaceId}`.execute(
      books.db,
    );
    await expect(gate()).rejects.toMatchObject({
      status: 200,
      message: expect.stringContaining('5.400688 STAGI needed, 5.400687 available'),
    });
  });

  it('is refused in a workspace that is disabled', async () => {
    const { workspaceId } = await aWorkspaceWith(books.db, { credit: 10n ** 9n });
    await sql`update workspace set disabled_at = now() where id = ${workspaceId}`.execute(books.db);
    await expect(inTransaction(books.db, (trx) => requireFirstDay(trx, workspaceId, 20_000n))).rejects.toThrow();
  });

  it('spends a balance once: of many at a time on a balance for one, one is accepted', async () => {
    const AT_ONCE = 8;
    const price = 730_000n;
    // The first day of one, and less than an hour more.
    const workspace = await aWorkspaceWith(books.db, { credit: 24_500n });
    const results = await Promise.allSettled(
      Array.from({ length: AT_ONCE }, () =>
        inTransaction(books.db, async (trx) => {
          await requireFirstDay(trx, workspace.workspaceId, price);
          await storagesOf(trx, workspace, 1, { pricePerMonth: price });
        }),
      ),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    console.log(`storages at once on a balance for one: n = ${AT_ONCE}, one accepted`);
  });
});
