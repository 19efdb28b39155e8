import { RENTED_MOVES, type RentedStatus } from '@stagi/contract/instances.ts';
import { asMicro } from '@stagi/contract/money.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { inTransaction } from '../db/pool.ts';
import { STATUS_MOVES } from '../db/statusMoves.ts';
import { moveInstance } from '../instances/status.ts';
import { createTestDatabase } from '../testing/database.ts';
import { charge } from './charge.ts';
import { meterWorkspace } from './meter.ts';
import { aWorkspaceWith, type ClockedDatabase, clockDatabase, credit, serversOf } from './meteredWorkspace.ts';
import { meterDue } from './metering.ts';
import { rateOf } from './rate.ts';
import { followSegments } from './segments.ts';

const HOUR_US = 3_600_000_000n;
const SECOND = 1_000_000;
const log = { warn() {}, error() {}, info() {} } as never;

const seed = Date.now() % 2 ** 31;
const random = seeded(seed);
const between = (least: number, most: number): number => least + Math.floor(random() * (most - least + 1));

/** mulberry32 (Tommy Ettinger, 2017). */
function seeded(start: number): () => number {
  let a = start;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** What an interval of so many microseconds costs, exactly. */
const exactly = (price: bigint, micros: bigint): bigint => (price * micros) / HOUR_US;

let clocked: ClockedDatabase;
beforeAll(async () => {
  console.log(`metering: seed ${seed}`);
  clocked = await clockDatabase(await createTestDatabase());
  for (const { kind, moves } of STATUS_MOVES)
    for (const [from, tos] of Object.entries(moves))
      for (const to of tos)
        await sql`insert into status_move values (${kind}, ${from}, ${to}) on conflict do nothing`.execute(clocked.db);
});
afterAll(() => clocked?.close());

const balanceOf = async (workspaceId: number): Promise<Record<string, bigint>> => {
  const { rows } = await sql<{ kind: string; balance: bigint }>`
    select split_part(code, ':', 3) as kind, balance from account where client_id = ${workspaceId}`.execute(clocked.db);
  return Object.fromEntries(rows.map(({ kind, balance }) => [kind, balance]));
};

const segmentsOf = async (instanceId: number) => {
  const { rows } = await sql<{
    rate: string;
    seconds: number | null;
    net: bigint;
    settled: boolean;
  }>`select rate, extract(epoch from ended_at - started_at)::float8 as seconds,
    charged + uncollected - refunded - forgiven as net, settled
    from segment where instance_id = ${instanceId} order by id`.execute(clocked.db);
  return rows;
};

/** Moves a server at a moment of the clock. */
async function at(micros: number, id: number, status: RentedStatus, machineState?: string | null): Promise<void> {
  await clocked.setClock(micros);
  await inTransaction(clocked.db, async (trx) => {
    if (machineState !== undefined)
      await sql`update instance set machine_state = ${machineState}, running_seen_at =
        case when ${machineState === 'running'} then metering_clock() else running_seen_at end where id = ${id}`.execute(
        trx,
      );
    await moveInstance({ log }, trx, id, status, {});
  });
}

/** The journals, the lines beside them and the accounts tell one story. */
async function expectOneStory(): Promise<void> {
  const { rows } = await sql<Record<string, bigint>>`select
    (select count(*) from (
      select j.id from journal j left join segment_charge c on c.journal_id = j.id where j.kind = 'usage'
      group by j.id having coalesce(sum(c.credit + c.card + c.onchain + c.uncollected), 0) <>
        (select sum(p.amount) from posting p join account a on a.id = p.account_id where p.journal_id = j.id and a.code like 'revenue:%')
    ) as odd) as odd_journals,
    (select count(*) from segment s where charged <> coalesce((select sum(credit + card + onchain) from segment_charge where segment_id = s.id), 0)
      or uncollected <> coalesce((select sum(uncollected) from segment_charge where segment_id = s.id), 0)
      or refunded + forgiven <> coalesce((select credit + card + onchain + forgiven from segment_refund where segment_id = s.id), 0)) as odd_segments,
    (select coalesce(sum(charged + uncollected - refunded - forgiven), 0)::bigint from segment)
      - (select coalesce(sum(balance), 0)::bigint from account where code like 'revenue:usage:%') as revenue_off,
    (select coalesce(sum(uncollected - forgiven), 0)::bigint from segment) + (select balance from account where code = 'writeoff') as writeoff_off,
    (select count(*) from account where min_balance is not null and balance < 0) as negative,
    (select coalesce(sum(charged - refunded), 0)::bigint from segment) - (select coalesce(sum(charged - refunded), 0)::bigint from usage_day) as days_off,
    (select count(*) from segment_charge) as charges`.execute(clocked.db);
  const { charges, ...off } = rows[0]!;
  expect(Object.entries(off).filter(([, value]) => value !== 0n)).toEqual([]);
  expect(charges! > 0n).toBe(true);
}

describe('a bill', () => {
  it('is the published example to the unit: 30, 3,600 and 3,030 seconds', async () => {
    const start = 1_000 * SECOND;
    const workspace = await aWorkspaceWith(clocked.db, { credit: 100_000_000n });
    const [id] = await serversOf(clocked.db, workspace, 1, { running: 3_600_000n });
    await at(start, id!, 'creating', 'creating');
    // Running from 30 s before a full hour, stopped half an hour and 30 s after the next, an hour and 50 min in all.
    await at(start, id!, 'creating', 'running');
    await at(start, id!, 'online');
    await clocked.setClock(start + 30 * SECOND);
    expect(await meterWorkspace(clocked.db, workspace.workspaceId)).toMatchObject({ charged: 30_000n });
    await clocked.setClock(start + 3_630 * SECOND);
    expect(await meterWorkspace(clocked.db, workspace.workspaceId)).toMatchObject({ charged: 3_600_000n });
    await at(start + 6_660 * SECOND, id!, 'powering off');
    await clocked.setClock(start + 9_000 * SECOND);
    expect(await meterWorkspace(clocked.db, workspace.workspaceId)).toMatchObject({ charged: 3_030_000n });
    expect((await balanceOf(workspace.workspaceId)).credit).toBe(100_000_000n - 6_660_000n);
  });

  it('comes to one total in any partition: 10,000 random timelines', { timeout: 120_000 }, async () => {
    const TIMELINES = 10_000;
    const WORKSPACES = 20;
    const each = TIMELINES / WORKSPACES;
    let charged = 0n;
    for (let n = 0; n < WORKSPACES; n += 1) {
      const workspace = await aWorkspaceWith(clocked.db, { credit: 10n ** 15n });
      const ids = await serversOf(clocked.db, workspace, each, { status: 'online' });
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
      await sql`insert into segment (client_id, instance_id, rate, price_per_hour, started_at, ended_at, metered_until, confirmed)
        select ${workspace.workspaceId}, id, 'running', price, at.start, at.stop, at.start, true
        from unnest(${lines.map(({ id }) => id)}::int[], ${lines.map(({ price }) => String(price))}::bigint[],
          ${lines.map(({ start }) => String(start))}::bigint[], ${lines.map(({ end }) => String(end))}::bigint[]) as l (id, price, start, stop),
        lateral (select timestamptz '2026-01-01Z' + l.start * interval '1 microsecond' as start,
          timestamptz '2026-01-01Z' + l.stop * interval '1 microsecond' as stop) as at`.execute(clocked.db);
      await sql`insert into workspace_meter (client_id, metered_at) values (${workspace.workspaceId}, metering_clock())`.execute(
        clocked.db,
      );
      const ticks = Array.from({ length: between(0, 5) }, () => between(0, 44 * 86_400 * SECOND)).toSorted(
        (a, b) => a - b,
      );
      for (const tick of [...ticks, 50 * 86_400 * SECOND]) {
        await clocked.setClock(tick);
        await meterWorkspace(clocked.db, workspace.workspaceId);
      }
      const { rows } = await sql<{ instance_id: number; charged: bigint; settled: boolean }>`
        select instance_id, charged, settled from segment where client_id = ${workspace.workspaceId}`.execute(
        clocked.db,
      );
      const wrong = lines.filter(({ id, start, end, price }) => {
        const row = rows.find(({ instance_id }) => instance_id === id)!;
        return !row.settled || row.charged !== exactly(price, BigInt(end - start));
      });
      expect(wrong).toEqual([]);
      charged += rows.reduce((all, row) => all + row.charged, 0n);
    }
    console.log(`metering: n = ${TIMELINES} timelines in the database, ${charged} micro-STAGI, 0 off`);
    expect(charged > 0n).toBe(true);
    await expectOneStory();
  });

  it('is shared among intervals in their order and accounts in theirs, to exactly nothing: 10,000 random ones', () => {
    for (let n = 0; n < 10_000; n += 1) {
      const some = () => asMicro(BigInt(between(0, 50)));
      const balances = { credit: some(), card: some(), onchain: some() };
      const dues = Array.from({ length: between(1, 6) }, () => asMicro(BigInt(between(0, 60))));
      const charges = charge(dues, balances);
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
    const workspace = await aWorkspaceWith(clocked.db, { credit: 100_000_000n });
    const [id] = await serversOf(clocked.db, workspace, 1, { status: 'creating', running: 7_200_000n });
    const start = 2_000_000 * SECOND;
    await at(start, id!, 'online', 'running');
    for (const tick of [60, 60, 119, 180, 180 + 3 * 3_600, 180 + 3 * 3_600, 240 + 3 * 3_600]) {
      await clocked.setClock(start + tick * SECOND);
      await Promise.all([1, 2, 3].map(() => meterWorkspace(clocked.db, workspace.workspaceId)));
    }
    expect(100_000_000n - (await balanceOf(workspace.workspaceId)).credit!).toBe(
      exactly(7_200_000n, BigInt(240 + 3 * 3_600) * 1_000_000n),
    );
    await at(start + 20_000 * SECOND, id!, 'terminating');
    await meterWorkspace(clocked.db, workspace.workspaceId);
    await meterWorkspace(clocked.db, workspace.workspaceId);
    expect(await segmentsOf(id!)).toEqual([{ rate: 'running', seconds: 20_000, net: 40_000_000n, settled: true }]);
  });

  it('depends on start, end and price alone when the clock steps back an hour and ahead', async () => {
    const workspace = await aWorkspaceWith(clocked.db, { credit: 100_000_000n });
    const [id] = await serversOf(clocked.db, workspace, 1, { status: 'creating' });
    const start = 3_000_000 * SECOND;
    await at(start, id!, 'online', 'running');
    let last = 0n;
    for (const tick of [100, 7_200, 3_600, 3_700, 7_300, 40_000, 36_400]) {
      await clocked.setClock(start + tick * SECOND);
      await meterWorkspace(clocked.db, workspace.workspaceId);
      const spent = 100_000_000n - (await balanceOf(workspace.workspaceId)).credit!;
      expect(spent >= last).toBe(true);
      last = spent;
    }
    // The clock is behind what was metered: the interval ends where that ended, and the next begins there.
    await at(start + 36_500 * SECOND, id!, 'powering off');
    await meterWorkspace(clocked.db, workspace.workspaceId);
    await at(start + 36_600 * SECOND, id!, 'stopped', 'stopped');
    await at(start + 36_700 * SECOND, id!, 'terminating');
    await meterWorkspace(clocked.db, workspace.workspaceId);
    const segments = await segmentsOf(id!);
    expect(segments.map(({ rate, seconds }) => [rate, seconds])).toEqual([
      ['running', 40_000],
      ['stopped', 0],
    ]);
    expect(segments[0]!.net).toBe(40_000_000n);
  });
});

describe('intervals', () => {
  it('follow every legal way of a server without an overlap or a hole', { timeout: 60_000 }, async () => {
    const SERVERS = 150;
    const workspace = await aWorkspaceWith(clocked.db, { credit: 10n ** 12n });
    const ids = await serversOf(clocked.db, workspace, SERVERS, { running: 3_600_000n, stopped: 360_000n });
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
        await at(clock, id, status, machine);
        // Told twice, as by two workers: nothing new.
        if (random() < 0.3) await at(clock, id, status, machine);
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
        from segment where instance_id = ${id} and (ended_at is null or ended_at > started_at) order by started_at`.execute(
        clocked.db,
      );
      const found = merged(
        rows.map(({ rate, start, stop }) => [rate, Number(start), stop === null ? null : Number(stop)]),
      );
      const wanted = stretches(expected);
      if (JSON.stringify(found) !== JSON.stringify(wanted)) uncovered += 1;
      expect(found).toEqual(wanted);
    }
    await clocked.setClock(clock + 1_000 * SECOND);
    await meterWorkspace(clocked.db, workspace.workspaceId);
    const { rows } = await sql<{ overlaps: bigint }>`select count(*) as overlaps from segment a join segment b
      on a.instance_id = b.instance_id and a.id < b.id
      and tstzrange(a.started_at, coalesce(a.ended_at, 'infinity')) && tstzrange(b.started_at, coalesce(b.ended_at, 'infinity'))`.execute(
      clocked.db,
    );
    console.log(
      `metering: n = ${moves} moves of ${SERVERS} servers, ${rows[0]!.overlaps} overlaps, ${uncovered} uncovered`,
    );
    expect(rows[0]!.overlaps).toBe(0n);
    await expectOneStory();
  });

  it('cannot overlap: the database refuses it', async () => {
    const workspace = await aWorkspaceWith(clocked.db, {});
    const [id] = await serversOf(clocked.db, workspace, 1);
    const insert = (from: string, to: string) =>
      sql`insert into segment (client_id, instance_id, rate, price_per_hour, started_at, ended_at, metered_until, confirmed)
        values (${workspace.workspaceId}, ${id}, 'running', 1, ${from}, ${to}, ${from}, true)`.execute(clocked.db);
    await insert('2026-02-01T00:00Z', '2026-02-02T00:00Z');
    await insert('2026-02-02T00:00Z', '2026-02-03T00:00Z');
    await expect(insert('2026-02-01T23:59:59.999999Z', '2026-02-04T00:00Z')).rejects.toThrow('conflicting key value');
  });

  it('of a creation that fails, or is ended before it was ready, cost exactly nothing', async () => {
    for (const end of ['creation failed', 'terminating'] as const) {
      const workspace = await aWorkspaceWith(clocked.db, { credit: 100n, card: 200n, onchain: 5_000_000n });
      const [id] = await serversOf(clocked.db, workspace, 1);
      const start = 6_000_000 * SECOND;
      await at(start, id!, 'creating', 'creating');
      await at(start + 30 * SECOND, id!, 'creating', 'running');
      await clocked.setClock(start + 90 * SECOND);
      expect(await meterWorkspace(clocked.db, workspace.workspaceId)).toMatchObject({ charged: 60_000n });
      expect(await balanceOf(workspace.workspaceId)).toMatchObject({ credit: 0n, card: 0n });
      await at(start + 100 * SECOND, id!, end);
      expect(await meterWorkspace(clocked.db, workspace.workspaceId)).toMatchObject({ refunded: 60_000n, charged: 0n });
      // Each part is back where it came from: credit has not become money.
      expect(await balanceOf(workspace.workspaceId)).toMatchObject({ credit: 100n, card: 200n, onchain: 5_000_000n });
      expect((await segmentsOf(id!)).map(({ net, settled }) => [net, settled])).toEqual([[0n, true]]);
    }
    await expectOneStory();
  });

  it("end at its cloud's last proof of life when it is lost, and what was charged beyond comes back", async () => {
    const workspace = await aWorkspaceWith(clocked.db, { credit: 10_000_000n });
    const [id] = await serversOf(clocked.db, workspace, 1);
    const start = 7_000_000 * SECOND;
    await at(start, id!, 'creating', 'creating');
    await at(start, id!, 'online', 'running');
    await at(start + 600 * SECOND, id!, 'online', 'running');
    await clocked.setClock(start + 660 * SECOND);
    await meterWorkspace(clocked.db, workspace.workspaceId);
    await at(start + 670 * SECOND, id!, 'error', null);
    expect(await meterWorkspace(clocked.db, workspace.workspaceId)).toMatchObject({ refunded: 60_000n });
    expect(await segmentsOf(id!)).toEqual([{ rate: 'running', seconds: 600, net: 600_000n, settled: true }]);
    // Seen again: a new interval, none for the time between.
    await at(start + 700 * SECOND, id!, 'online', 'running');
    expect((await segmentsOf(id!)).map(({ rate, seconds }) => [rate, seconds])).toEqual([
      ['running', 600],
      ['running', null],
    ]);
    await expectOneStory();
  });

  it("are not shortened by a daemon's silence", async () => {
    const workspace = await aWorkspaceWith(clocked.db, { credit: 10_000_000n });
    const [id] = await serversOf(clocked.db, workspace, 1);
    const start = 8_000_000 * SECOND;
    await at(start, id!, 'creating', 'creating');
    await at(start, id!, 'online', 'running');
    await at(start + 100 * SECOND, id!, 'unresponsive');
    await at(start + 1_000 * SECOND, id!, 'terminating');
    expect((await segmentsOf(id!)).map(({ seconds }) => seconds)).toEqual([1_000]);
  });

  it('close and open at one moment when the price changes', async () => {
    const workspace = await aWorkspaceWith(clocked.db, { credit: 10_000_000n });
    const [id] = await serversOf(clocked.db, workspace, 1);
    const start = 9_000_000 * SECOND;
    await at(start, id!, 'creating', 'creating');
    await at(start, id!, 'online', 'running');
    await clocked.setClock(start + 100 * SECOND);
    await inTransaction(clocked.db, async (trx) => {
      await sql`update instance set price_per_hour = 7200000 where id = ${id}`.execute(trx);
      await followSegments(trx, id!);
    });
    await clocked.setClock(start + 200 * SECOND);
    expect(await meterWorkspace(clocked.db, workspace.workspaceId)).toMatchObject({ charged: 300_000n });
    const { rows } = await sql<{ touch: boolean }>`select a.ended_at = b.started_at as touch
      from segment a join segment b on a.instance_id = b.instance_id and a.id < b.id where a.instance_id = ${id}`.execute(
      clocked.db,
    );
    expect(rows).toEqual([{ touch: true }]);
  });
});

describe('a balance that runs out', () => {
  // Nobody else's servers run in these tests.
  beforeEach(async () => {
    await sql`update segment set ended_at = metered_until, settled = true where not settled`.execute(clocked.db);
  });

  it('ends at exactly zero; the rest is uncollected and written off; the workspace is exhausted', async () => {
    const workspace = await aWorkspaceWith(clocked.db, { credit: 10_000n, card: 20_000n, onchain: 30_001n });
    const ids = await serversOf(clocked.db, workspace, 3, { running: 3_600_000n });
    const start = 10_000_000 * SECOND;
    for (const id of ids) {
      await at(start, id, 'creating', 'creating');
      await at(start, id, 'online', 'running');
    }
    await clocked.setClock(start + 19 * SECOND);
    expect(await meterDue({ db: clocked.db, log }, 60_000)).toEqual([]);
    await clocked.setClock(start + 24 * SECOND);
    const [tick] = await meterDue({ db: clocked.db, log }, 60_000);
    expect(tick).toMatchObject({ charged: 60_001n, uncollected: 11_999n, exhausted: 'now' });
    expect(await balanceOf(workspace.workspaceId)).toEqual({ credit: 0n, card: 0n, onchain: 0n, held: 0n });
    const { rows } = await sql<{
      charged: bigint;
    }>`select charged from segment where client_id = ${workspace.workspaceId} order by id`.execute(clocked.db);
    expect(rows.map(({ charged }) => charged)).toEqual([24_000n, 24_000n, 12_001n]);
    await credit(clocked.db, workspace.workspaceId, 'credit', 5_000n);
    await clocked.setClock(start + 25 * SECOND);
    expect(await meterWorkspace(clocked.db, workspace.workspaceId)).toMatchObject({ charged: 3_000n, exhausted: 'no' });
    await expectOneStory();
  });

  it('stops at the reserve where something could not be stopped otherwise', async () => {
    const workspace = await aWorkspaceWith(clocked.db, { credit: 1_900_000n });
    const [id] = await serversOf(clocked.db, workspace, 1, { running: 3_600_000n, canStop: false });
    const start = 11_000_000 * SECOND;
    await at(start, id!, 'creating', 'creating');
    await at(start, id!, 'online', 'running');
    await clocked.setClock(start + 101 * SECOND);
    const [tick] = await meterDue({ db: clocked.db, log }, 3_600_000);
    expect(tick).toMatchObject({ charged: 101_000n, uncollected: 0n, exhausted: 'now' });
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
