import { RENTED_MOVES, type RentedStatus } from '@stagi/contract/instances.ts';
import { newSeed, seeded } from '@stagi/contract/testing/random.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inTransaction } from '../db/pool.ts';
import { aWorkspaceWith, serversOf } from './meteredWorkspace.ts';
import { meterWorkspace } from './meterWorkspace.ts';
import { rateOf } from './segmentRate.ts';
import { syncSegments } from './segments.ts';
import { type MeteredBooks, openMeteredBooks, SECOND } from './testing/meteredBooks.ts';

const seed = newSeed();
const random = seeded(seed);
const { between } = random;

let books: MeteredBooks;
beforeAll(async () => {
  console.log(`segments: seed ${seed}`);
  books = await openMeteredBooks();
});
afterAll(() => books?.close());

describe('intervals', () => {
  it('follow every legal way of a server without an overlap or a hole', { timeout: 240_000 }, async () => {
    const SERVERS = 150;
    const workspace = await aWorkspaceWith(books.db, { credit: 10n ** 12n });
    const ids = await serversOf(books.db, workspace, SERVERS, { running: 3_600_000n, stopped: 360_000n });
    let clock = 5_000_000 * SECOND;
    let moves = 0;
    let uncovered = 0;
    for (const id of ids) {
      let status: RentedStatus = 'in queue';
      let machine: string | null = null;
      const expected: { from: number; rate: string | null }[] = [];
      let ranAt = clock;
      for (let step = 0; step < 12; step += 1) {
        clock += between(1, 5_000) * SECOND;
        const next: readonly RentedStatus[] = [status, ...RENTED_MOVES[status]];
        status = next[between(0, next.length - 1)]!;
        machine = machineOf(status, machine);
        await books.at(clock, id, status, machine);
        // Told twice, as by two workers: nothing new.
        if (random() < 0.3) await books.at(clock, id, status, machine);
        const isOpen = expected.at(-1)?.rate === 'running';
        const rate = rateOf({ status, machine_state: machine, desired: 'running', zero_stopped_at: null }, isOpen);
        // What its cloud does not show running any more ran until it was shown so last.
        const isLost = isOpen && rate !== 'running' && machine !== 'running';
        expected.push({ from: isLost ? ranAt : clock, rate });
        if (machine === 'running') ranAt = clock;
        moves += 1;
      }
      const { rows } = await sql<{ rate: string; start: bigint; stop: bigint | null }>`
        select rate, (extract(epoch from started_at - timestamptz '2026-01-01Z') * 1000000)::bigint as start,
          (extract(epoch from ended_at - timestamptz '2026-01-01Z') * 1000000)::bigint as stop
        from segment where kind = 'instance' and resource_id = ${id} and (ended_at is null or ended_at > started_at) order by started_at`.execute(
        books.db,
      );
      const found = merged(
        rows.map(({ rate, start, stop }) => [rate, Number(start), stop === null ? null : Number(stop)]),
      );
      const wanted = stretches(expected);
      if (JSON.stringify(found) !== JSON.stringify(wanted)) uncovered += 1;
      expect(found).toEqual(wanted);
    }
    await books.setClock(clock + 1_000 * SECOND);
    await meterWorkspace(books.db, workspace.workspaceId);
    const { rows } = await sql<{ overlaps: bigint }>`select count(*) as overlaps from segment a join segment b
      on (a.kind, a.resource_id) = (b.kind, b.resource_id) and a.id < b.id
      and tstzrange(a.started_at, coalesce(a.ended_at, 'infinity')) && tstzrange(b.started_at, coalesce(b.ended_at, 'infinity'))`.execute(
      books.db,
    );
    console.log(
      `metering: n = ${moves} moves of ${SERVERS} servers, ${rows[0]!.overlaps} overlaps, ${uncovered} uncovered`,
    );
    expect(rows[0]!.overlaps).toBe(0n);
    await books.expectOneStory();
  });

  it('cannot overlap: the database refuses it', async () => {
    const workspace = await aWorkspaceWith(books.db, {});
    const [id] = await serversOf(books.db, workspace, 1);
    const insert = (from: string, to: string) =>
      sql`insert into segment (client_id, kind, resource_id, rate, price, started_at, ended_at, metered_until, confirmed)
        values (${workspace.workspaceId}, 'instance', ${id}, 'running', 1, ${from}, ${to}, ${from}, true)`.execute(
        books.db,
      );
    await insert('2026-02-01T00:00Z', '2026-02-02T00:00Z');
    await insert('2026-02-02T00:00Z', '2026-02-03T00:00Z');
    await expect(insert('2026-02-01T23:59:59.999999Z', '2026-02-04T00:00Z')).rejects.toThrow('conflicting key value');
  });

  it('of a creation that fails, or is ended before it was ready, cost exactly nothing', async () => {
    for (const end of ['creation failed', 'terminating'] as const) {
      const workspace = await aWorkspaceWith(books.db, { credit: 100n, card: 200n, onchain: 5_000_000n });
      const [id] = await serversOf(books.db, workspace, 1);
      const start = 6_000_000 * SECOND;
      await books.at(start, id!, 'creating', 'creating');
      await books.at(start + 30 * SECOND, id!, 'creating', 'running');
      await books.setClock(start + 90 * SECOND);
      expect(await meterWorkspace(books.db, workspace.workspaceId)).toMatchObject({ charged: 60_000n });
      expect(await books.balanceOf(workspace.workspaceId)).toMatchObject({ credit: 0n, card: 0n });
      await books.at(start + 100 * SECOND, id!, end);
      expect(await meterWorkspace(books.db, workspace.workspaceId)).toMatchObject({ refunded: 60_000n, charged: 0n });
      // Each part is back where it came from: credit has not become money.
      expect(await books.balanceOf(workspace.workspaceId)).toMatchObject({
        credit: 100n,
        card: 200n,
        onchain: 5_000_000n,
      });
      expect((await books.segmentsOf(id!)).map(({ net, settled }) => [net, settled])).toEqual([[0n, true]]);
    }
    await books.expectOneStory();
  });

  it("end at its cloud's last proof of life when it is lost, and what was charged beyond comes back", async () => {
    const workspace = await aWorkspaceWith(books.db, { credit: 10_000_000n });
    const [id] = await serversOf(books.db, workspace, 1);
    const start = 7_000_000 * SECOND;
    await books.at(start, id!, 'creating', 'creating');
    await books.at(start, id!, 'online', 'running');
    await books.at(start + 600 * SECOND, id!, 'online', 'running');
    await books.setClock(start + 660 * SECOND);
    await meterWorkspace(books.db, workspace.workspaceId);
    await books.at(start + 670 * SECOND, id!, 'error', null);
    expect(await meterWorkspace(books.db, workspace.workspaceId)).toMatchObject({ refunded: 60_000n });
    expect(await books.segmentsOf(id!)).toEqual([{ rate: 'running', seconds: 600, net: 600_000n, settled: true }]);
    // Seen again: a new interval, none for the time between.
    await books.at(start + 700 * SECOND, id!, 'online', 'running');
    expect((await books.segmentsOf(id!)).map(({ rate, seconds }) => [rate, seconds])).toEqual([
      ['running', 600],
      ['running', null],
    ]);
    await books.expectOneStory();
  });

  it('are charged and given back in lines that cannot be changed, deleted or emptied', async () => {
    const changes = {
      segment_charge: 'update segment_charge set credit = credit + 1',
      segment_refund: 'update segment_refund set credit = credit + 1',
    };
    for (const [table, change] of Object.entries(changes)) {
      const { rows } = await sql<{ n: number }>`select count(*)::int as n from ${sql.table(table)}`.execute(books.db);
      expect(rows[0]!.n, table).toBeGreaterThan(0);
      for (const statement of [change, `delete from ${table}`, `truncate ${table} cascade`])
        await expect(sql.raw(statement).execute(books.db), statement).rejects.toThrow(`append-only table ${table}`);
    }
  });

  it("are not shortened by a daemon's silence", async () => {
    const workspace = await aWorkspaceWith(books.db, { credit: 10_000_000n });
    const [id] = await serversOf(books.db, workspace, 1);
    const start = 8_000_000 * SECOND;
    await books.at(start, id!, 'creating', 'creating');
    await books.at(start, id!, 'online', 'running');
    await books.at(start + 100 * SECOND, id!, 'unresponsive');
    await books.at(start + 1_000 * SECOND, id!, 'terminating');
    expect((await books.segmentsOf(id!)).map(({ seconds }) => seconds)).toEqual([1_000]);
  });

  it('close and open at one moment when the price changes', async () => {
    const workspace = await aWorkspaceWith(books.db, { credit: 10_000_000n });
    const [id] = await serversOf(books.db, workspace, 1);
    const start = 9_000_000 * SECOND;
    await books.at(start, id!, 'creating', 'creating');
    await books.at(start, id!, 'online', 'running');
    await books.setClock(start + 100 * SECOND);
    await inTransaction(books.db, async (trx) => {
      await sql`update instance set price_per_hour = 7200000 where id = ${id}`.execute(trx);
      await syncSegments(trx, id!);
    });
    await books.setClock(start + 200 * SECOND);
    expect(await meterWorkspace(books.db, workspace.workspaceId)).toMatchObject({ charged: 300_000n });
    const { rows } = await sql<{ touch: boolean }>`select a.ended_at = b.started_at as touch
      from segment a join segment b on (a.kind, a.resource_id) = (b.kind, b.resource_id) and a.id < b.id
      where a.kind = 'instance' and a.resource_id = ${id}`.execute(books.db);
    expect(rows).toEqual([{ touch: true }]);
  });
});

/** What a cloud shows of a server in this status. */
function machineOf(status: RentedStatus, before: string | null): string | null {
  switch (status) {
    case 'in queue':
      return null;
    case 'creating':
      return before === 'running' || random() < 0.5 ? 'running' : 'creating';
    case 'powering on':
      return before === 'running' || random() < 0.5 ? 'running' : 'stopped';
    case 'stopped':
      return 'stopped';
    case 'powering off':
    case 'online':
    case 'rebooting':
    case 'unresponsive':
      return 'running';
    default:
      return before;
  }
}

/** Stretches of one rate. */
function stretches(points: readonly { from: number; rate: string | null }[]): [string, number, number | null][] {
  const all: { from: number; rate: string | null }[] = [];
  for (const point of points) {
    if (all.at(-1)?.rate === point.rate) continue;
    // Began and was lost at one moment: nothing.
    if (all.at(-1)?.from === point.from) all.pop();
    if (all.at(-1)?.rate !== point.rate) all.push(point);
  }
  return all.flatMap(({ from, rate }, n): [string, number, number | null][] =>
    rate === null ? [] : [[rate, from, all[n + 1]?.from ?? null]],
  );
}

/** Two stretches of one rate that touch are one: what ran between them was lost at the moment in which it began. */
function merged(all: readonly [string, number, number | null][]): [string, number, number | null][] {
  const result: [string, number, number | null][] = [];
  for (const [rate, from, to] of all) {
    const last = result.at(-1);
    if (last?.[0] === rate && last[2] === from) last[2] = to;
    else result.push([rate, from, to]);
  }
  return result;
}
