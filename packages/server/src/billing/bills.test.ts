import { asMicro } from '@stagi/contract/money.ts';
import { newSeed, seeded } from '@stagi/contract/testing/random.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allocateCharges } from './allocateCharges.ts';
import { aWorkspaceWith, serversOf } from './meteredWorkspace.ts';
import { meterWorkspace } from './meterWorkspace.ts';
import { type MeteredBooks, openMeteredBooks, SECOND } from './testing/meteredBooks.ts';

const HOUR_US = 3_600_000_000n;

const seed = newSeed();
const random = seeded(seed);
const { between } = random;

/** What an interval of so many microseconds costs, exactly. */
const exactly = (price: bigint, micros: bigint): bigint => (price * micros) / HOUR_US;

let books: MeteredBooks;
beforeAll(async () => {
  console.log(`bills: seed ${seed}`);
  books = await openMeteredBooks();
});
afterAll(() => books?.close());

describe('a bill', () => {
  it('is the published example to the unit: 30, 3,600 and 3,030 seconds', async () => {
    const start = 1_000 * SECOND;
    const workspace = await aWorkspaceWith(books.db, { credit: 100_000_000n });
    const [id] = await serversOf(books.db, workspace, 1, { running: 3_600_000n });
    await books.at(start, id!, 'creating', 'creating');
    // Running from 30 s before a full hour, stopped half an hour and 30 s after the next, an hour and 50 min in all.
    await books.at(start, id!, 'creating', 'running');
    await books.at(start, id!, 'online');
    await books.setClock(start + 30 * SECOND);
    expect(await meterWorkspace(books.db, workspace.workspaceId)).toMatchObject({ charged: 30_000n });
    await books.setClock(start + 3_630 * SECOND);
    expect(await meterWorkspace(books.db, workspace.workspaceId)).toMatchObject({ charged: 3_600_000n });
    await books.at(start + 6_660 * SECOND, id!, 'powering off');
    await books.setClock(start + 9_000 * SECOND);
    expect(await meterWorkspace(books.db, workspace.workspaceId)).toMatchObject({ charged: 3_030_000n });
    expect((await books.balanceOf(workspace.workspaceId)).credit).toBe(100_000_000n - 6_660_000n);
  });

  it('comes to one total in any partition: 10,000 random timelines', { timeout: 240_000 }, async () => {
    const TIMELINES = 10_000;
    const WORKSPACES = 20;
    const each = TIMELINES / WORKSPACES;
    let charged = 0n;
    for (let n = 0; n < WORKSPACES; n += 1) {
      const workspace = await aWorkspaceWith(books.db, { credit: 10n ** 15n });
      const ids = await serversOf(books.db, workspace, each, { status: 'online' });
      const lines = ids.map((id) => {
        const start = between(0, 40 * 86_400) * SECOND + between(0, SECOND - 1);
        const long = random() < 0.2 ? between(0, 90) : between(0, 3 * 86_400);
        return {
          id,
          start,
          end: start + long * SECOND + between(0, SECOND - 1),
          price: BigInt(between(0, 30_000_000)),
        };
      });
      await sql`insert into segment (client_id, kind, resource_id, rate, price, started_at, ended_at, metered_until, confirmed)
        select ${workspace.workspaceId}, 'instance', id, 'running', price, at.start, at.stop, at.start, true
        from unnest(${lines.map(({ id }) => id)}::int[], ${lines.map(({ price }) => String(price))}::bigint[],
          ${lines.map(({ start }) => String(start))}::bigint[], ${lines.map(({ end }) => String(end))}::bigint[]) as l (id, price, start, stop),
        lateral (select timestamptz '2026-01-01Z' + l.start * interval '1 microsecond' as start,
          timestamptz '2026-01-01Z' + l.stop * interval '1 microsecond' as stop) as at`.execute(books.db);
      await sql`insert into workspace_meter (client_id, metered_at) values (${workspace.workspaceId}, metering_clock())`.execute(
        books.db,
      );
      const ticks = Array.from({ length: between(0, 5) }, () => between(0, 44 * 86_400 * SECOND)).toSorted(
        (a, b) => a - b,
      );
      for (const tick of [...ticks, 50 * 86_400 * SECOND]) {
        await books.setClock(tick);
        await meterWorkspace(books.db, workspace.workspaceId);
      }
      const { rows } = await sql<{ resource_id: number; charged: bigint; settled: boolean }>`
        select resource_id, charged, settled from segment where client_id = ${workspace.workspaceId}`.execute(books.db);
      const wrong = lines.filter(({ id, start, end, price }) => {
        const row = rows.find(({ resource_id }) => resource_id === id)!;
        return !row.settled || row.charged !== exactly(price, BigInt(end - start));
      });
      expect(wrong).toEqual([]);
      charged += rows.reduce((all, row) => all + row.charged, 0n);
    }
    console.log(`metering: n = ${TIMELINES} timelines in the database, ${charged} micro-STAGI, 0 off`);
    expect(charged > 0n).toBe(true);
    await books.expectOneStory();
  });

  it('is shared among intervals in their order and accounts in theirs, to exactly nothing: 10,000 random ones', () => {
    for (let n = 0; n < 10_000; n += 1) {
      const some = () => asMicro(BigInt(between(0, 50)));
      const balances = { credit: some(), card: some(), onchain: some() };
      const dues = Array.from({ length: between(1, 6) }, () => asMicro(BigInt(between(0, 60))));
      const charges = allocateCharges(dues, balances);
      const all = (pick: 'credit' | 'card' | 'onchain') => charges.reduce((sum, { parts }) => sum + parts[pick], 0n);
      const taken = all('credit') + all('card') + all('onchain');
      const owed = dues.reduce((sum: bigint, due) => sum + due, 0n);
      const held = balances.credit + balances.card + balances.onchain;
      expect(taken).toBe([owed, held].toSorted((a, b) => (a < b ? -1 : 1))[0]);
      expect(taken + charges.reduce((sum, { uncollected }) => sum + uncollected, 0n)).toBe(owed);
      if (all('card') > 0n) expect(all('credit')).toBe(balances.credit);
      if (all('onchain') > 0n) expect(all('card')).toBe(balances.card);
      const firstUnpaid = charges.findIndex(({ uncollected }) => uncollected > 0n);
      if (firstUnpaid >= 0)
        expect(
          charges.slice(firstUnpaid + 1).every(({ parts }) => parts.credit + parts.card + parts.onchain === 0n),
        ).toBe(true);
    }
  });

  it('loses and doubles nothing in an outage of three hours, and with ticks that are late or come twice', async () => {
    const workspace = await aWorkspaceWith(books.db, { credit: 100_000_000n });
    const [id] = await serversOf(books.db, workspace, 1, { status: 'creating', running: 7_200_000n });
    const start = 2_000_000 * SECOND;
    await books.at(start, id!, 'online', 'running');
    for (const tick of [60, 60, 119, 180, 180 + 3 * 3_600, 180 + 3 * 3_600, 240 + 3 * 3_600]) {
      await books.setClock(start + tick * SECOND);
      await Promise.all([1, 2, 3].map(() => meterWorkspace(books.db, workspace.workspaceId)));
    }
    expect(100_000_000n - (await books.balanceOf(workspace.workspaceId)).credit!).toBe(
      exactly(7_200_000n, BigInt(240 + 3 * 3_600) * 1_000_000n),
    );
    await books.at(start + 20_000 * SECOND, id!, 'terminating');
    await meterWorkspace(books.db, workspace.workspaceId);
    await meterWorkspace(books.db, workspace.workspaceId);
    expect(await books.segmentsOf(id!)).toEqual([
      { rate: 'running', seconds: 20_000, net: 40_000_000n, settled: true },
    ]);
  });

  it('depends on start, end and price alone when the clock steps back an hour and ahead', async () => {
    const workspace = await aWorkspaceWith(books.db, { credit: 100_000_000n });
    const [id] = await serversOf(books.db, workspace, 1, { status: 'creating' });
    const start = 3_000_000 * SECOND;
    await books.at(start, id!, 'online', 'running');
    let last = 0n;
    for (const tick of [100, 7_200, 3_600, 3_700, 7_300, 40_000, 36_400]) {
      await books.setClock(start + tick * SECOND);
      await meterWorkspace(books.db, workspace.workspaceId);
      const spent = 100_000_000n - (await books.balanceOf(workspace.workspaceId)).credit!;
      expect(spent >= last).toBe(true);
      last = spent;
    }
    // The clock is behind what was metered: the interval ends where that ended, and the next begins there.
    await books.at(start + 36_500 * SECOND, id!, 'powering off');
    await meterWorkspace(books.db, workspace.workspaceId);
    await books.at(start + 36_600 * SECOND, id!, 'stopped', 'stopped');
    await books.at(start + 36_700 * SECOND, id!, 'terminating');
    await meterWorkspace(books.db, workspace.workspaceId);
    const segments = await books.segmentsOf(id!);
    expect(segments.map(({ rate, seconds }) => [rate, seconds])).toEqual([
      ['running', 40_000],
      ['stopped', 0],
    ]);
    expect(segments[0]!.net).toBe(40_000_000n);
  });
});
