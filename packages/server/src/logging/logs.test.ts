import { STREAM_CREDIT_BYTES } from '@stagi/contract/daemon.ts';
import { encodeRecord, type LogRecord } from '@stagi/contract/frames.ts';
import { newSeed } from '@stagi/contract/testing/random.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aContainer } from '../testing/factories.ts';
import { parseNs } from './nanoTime.ts';
import { deleteOldLines } from './retention.ts';
import { aLoggingContainer, line, NOW_NS, openLog } from './testing/shipped.ts';

describe('logs', () => {
  const at = aLoggingContainer();

  it('stores what a container printed, in order, with its time and output', async () => {
    const ship = await at.logs.open(at.container);
    await ship.print(
      line('one', { timeNs: NOW_NS + 1n }),
      line('two', { timeNs: NOW_NS + 2n, stream: 'stderr' }),
      line('thr', { timeNs: NOW_NS + 3n, partial: true }),
      line('ee', { timeNs: NOW_NS + 4n }),
      line(''),
    );
    const lines = await at.logs.stored(at.container, 4);
    expect(lines.map(({ seq, stream, text }) => [seq, stream, text])).toEqual([
      [1, 'stdout', 'one'],
      [2, 'stderr', 'two'],
      [3, 'stdout', 'three'],
      [4, 'stdout', ''],
    ]);
    expect(lines.slice(0, 3).map(({ time }) => parseNs(time))).toEqual([NOW_NS + 1n, NOW_NS + 2n, NOW_NS + 3n]);
    await ship.daemon.close();
  });

  it('acknowledges only complete records that are stored, and grants credit after them', async () => {
    const ship = await at.logs.open(at.container);
    const bytes = await ship.print(line('a'), line('b'));
    const half = line('c');
    ship.daemon.sendBytes(ship.stream, bytes, half.subarray(0, 5));
    ship.daemon.sendBytes(ship.stream, bytes + 5, half.subarray(5));
    const credit = await ship.daemon.next('credit', ({ offset }) => offset === bytes + half.length);
    expect(credit).toMatchObject({ stream: ship.stream, bytes: STREAM_CREDIT_BYTES });
    await ship.daemon.close();
  });

  it('stores every line exactly once over disconnects, after which unacknowledged bytes are sent again', async () => {
    const seed = newSeed();
    const links = fc.array(
      fc.record({ chunk: fc.integer({ min: 1, max: 90 }), cut: fc.nat(400), overlap: fc.nat(60), waits: fc.boolean() }),
      { minLength: 2, maxLength: 6 },
    );
    const runs = 12;
    let dialled = 0;
    let resumed = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(anyRecord, { minLength: 5, maxLength: 30 }), links, async (records, plan) => {
        at.container = await aContainer(at.logs.app.ctx, at.logs.alice, at.logs.server);
        const bytes = Buffer.concat(records.map(encodeRecord));
        for (const { chunk, cut, overlap, waits } of plan) {
          const ship = await at.logs.open(at.container);
          dialled += 1;
          if (ship.offset > 0 && ship.offset < bytes.length) resumed += 1;
          const end = Math.min(bytes.length, ship.offset + cut);
          for (let place = ship.offset; place < end; place += chunk) {
            const from = Math.max(ship.offset, place - overlap);
            ship.daemon.sendBytes(ship.stream, from, bytes.subarray(from, Math.min(end, place + chunk)));
          }
          if (waits) ship.daemon.send({ type: 'heartbeat', at: '' });
          else ship.daemon.socket.terminate();
          await (waits ? ship.daemon.close() : ship.daemon.closed);
        }
        const last = await at.logs.open(at.container);
        last.daemon.sendBytes(last.stream, last.offset, bytes.subarray(last.offset));
        last.daemon.send({ type: 'log-end', stream: last.stream });
        const expected = linesOf(records);
        const lines = await at.logs.stored(at.container, expected.length);
        expect(lines.map(({ stream, text }) => [stream, text])).toEqual(expected);
        expect(lines.map(({ seq }) => seq)).toEqual(expected.map((_, index) => index + 1));
        await last.daemon.close();
      }),
      { numRuns: runs, seed, endOnFailure: true },
    );
    console.log(
      `log streams over broken links: n = ${runs} logs, ${dialled} links, ${resumed} resumed in the middle, seed ${seed}`,
    );
    expect(resumed).toBeGreaterThan(0);
  }, 120_000);

  it('sends the cursor again whenever a daemon repeats stored bytes', async () => {
    const ship = await at.logs.open(at.container);
    const printed = [line('one'), line('two'), line('three')];
    const end = await ship.print(...printed);
    const told = () => ship.daemon.received.filter((message) => message.type === 'log-resume');
    const atEnd = { stream: ship.stream, cursor: { offset: end } };
    for (let time = 1; time <= 2; time += 1) {
      let place = 0;
      for (const bytes of printed) {
        ship.daemon.sendBytes(ship.stream, place, bytes);
        place += bytes.length;
      }
      // Once for all bytes that continue there.
      await expect.poll(() => told().length).toBe(1 + time);
      expect(told().at(-1)).toMatchObject(atEnd);
    }
    await ship.print(line('four'));
    expect((await at.logs.stored(at.container, 4)).map(({ text }) => text)).toEqual(['one', 'two', 'three', 'four']);
    expect(told()).toHaveLength(3);
    await ship.daemon.close();
  });

  it('resumes on a new link where the last one stopped, and continues the numbers in a recreated container', async () => {
    const first = await at.logs.open(at.container);
    expect(first.cursor).toEqual({ offset: 0, timeNs: null, recordsAtTime: 0 });
    const bytes = await first.print(line('a', { timeNs: 7n }), line('b', { timeNs: 7n }));
    await first.daemon.close();
    const second = await at.logs.open(at.container);
    expect(second.cursor).toEqual({ offset: bytes, timeNs: '7', recordsAtTime: 2 });
    const anew = await openLog(second.daemon, at.container, 'another docker id', 2);
    expect(anew.cursor).toEqual({ offset: 0, timeNs: null, recordsAtTime: 0 });
    await anew.print(line('c'));
    expect((await at.logs.stored(at.container, 3)).map(({ text }) => text)).toEqual(['a', 'b', 'c']);
    await anew.daemon.close();
  });

  it('closes a link whose bytes leave a gap or exceed the credit, and stores none of them', async () => {
    const hole = await at.logs.open(at.container);
    hole.daemon.sendBytes(1, 10, line('lost'));
    expect((await hole.daemon.closed).code).toBe(1013);
    const greedy = await at.logs.open(at.container);
    const much = Buffer.concat(Array.from({ length: 20 }, () => line('x'.repeat(60_000))));
    greedy.daemon.socket.setMaxListeners(20);
    greedy.daemon.sendBytes(1, 0, much.subarray(0, 1_000_000));
    greedy.daemon.sendBytes(1, 1_000_000, much.subarray(1_000_000));
    expect((await greedy.daemon.closed).code).toBe(1008);
    const nonsense = await at.logs.open(at.container);
    nonsense.daemon.sendBytes(1, nonsense.offset, new Uint8Array(64).fill(255));
    expect((await nonsense.daemon.closed).code).toBe(1008);
  });

  it('shows a gap once, also when a new link reports it again', async () => {
    const gap = {
      type: 'log-gap',
      from: '2026-01-01T00:00:00.000000001Z',
      to: '2026-01-01T00:00:09.000000000Z',
      reason: 'Docker had dropped them',
    } as const;
    const first = await at.logs.open(at.container);
    const bytes = await first.print(line('before'));
    first.daemon.send({ ...gap, stream: 1, offset: bytes });
    await expect.poll(async () => (await at.logs.query(at.container)).gaps).toHaveLength(1);
    await first.daemon.close();
    const second = await at.logs.open(at.container);
    second.daemon.send({ ...gap, to: '2026-01-01T00:00:10.000000000Z', stream: 1, offset: bytes });
    await second.print(line('after'));
    await at.logs.stored(at.container, 2);
    expect((await at.logs.query(at.container)).gaps).toEqual([
      { afterSeq: 1, from: gap.from, to: '2026-01-01T00:00:10.000000000Z', reason: gap.reason },
    ]);
    await second.daemon.close();
  });

  it('pages back and forward, and filters by text in any case and by time', async () => {
    const ship = await at.logs.open(at.container);
    const began = Date.UTC(2026, 0, 1);
    await ship.print(
      ...Array.from({ length: 50 }, (_, index) =>
        line(index % 10 === 0 ? `Error ${index} 100%` : `line ${index}`, {
          timeNs: BigInt(began + index * 1000) * 1_000_000n,
        }),
      ),
    );
    await at.logs.stored(at.container, 50);
    const seqs = async (more: object) => {
      const { lines, hasBefore, lastSeq } = await at.logs.query(at.container, more);
      return { seqs: lines.map(({ seq }) => seq), hasBefore, lastSeq };
    };
    expect(await seqs({ limit: 3 })).toEqual({ seqs: [48, 49, 50], hasBefore: true, lastSeq: 50 });
    expect(await seqs({ limit: 3, cursor: { before: 3 } })).toEqual({ seqs: [1, 2], hasBefore: false, lastSeq: 50 });
    expect(await seqs({ limit: 2, cursor: { after: 10 } })).toEqual({ seqs: [11, 12], hasBefore: true, lastSeq: 50 });
    expect(await seqs({ text: 'eRRor', limit: 2 })).toEqual({ seqs: [31, 41], hasBefore: true, lastSeq: 50 });
    expect((await seqs({ text: '0%' })).seqs).toHaveLength(5);
    const onwards = await seqs({ text: 'error', limit: 2, cursor: { after: 1 } });
    expect(onwards).toEqual({ seqs: [11, 21], hasBefore: true, lastSeq: 50 });
    expect((await seqs({ text: 'error', limit: 2, cursor: { after: 0 } })).hasBefore).toBe(false);
    expect((await seqs({ text: 'error', cursor: { before: 21 } })).seqs).toEqual([1, 11]);
    expect((await seqs({ text: '_' })).seqs).toEqual([]);
    const [from, to] = [new Date(began + 10_000).toISOString(), new Date(began + 12_000).toISOString()];
    expect((await seqs({ from, to })).seqs).toEqual([11, 12, 13]);
    expect((await seqs({ from, to, text: '2' })).seqs).toEqual([13]);
    await ship.daemon.close();
  });

  it('deletes lines older than 30 days and keeps the numbers of the others', async () => {
    const ship = await at.logs.open(at.container);
    await ship.print(line('old', { timeNs: 1n }), line('old too', { timeNs: 2n }), line('new'));
    await at.logs.stored(at.container, 3);
    await deleteOldLines(at.logs.app.ctx.db);
    expect((await at.logs.query(at.container)).lines.map(({ seq, text }) => [seq, text])).toEqual([[3, 'new']]);
    await ship.daemon.close();
  });
});

const anyRecord = fc.record({
  timeNs: fc.integer({ min: 0, max: 3 }).map((step) => NOW_NS + BigInt(step)),
  stream: fc.constantFrom('stdout' as const, 'stderr' as const),
  partial: fc.boolean(),
  text: fc
    .string({ unit: fc.constantFrom('a', 'b', 'ü', '€', ' ', '\t', '\0', '\r'), maxLength: 20 })
    .map((text) => Buffer.from(text)),
});

/** The lines that records should give: the model of the test. */
function linesOf(records: readonly LogRecord[]): [string, string][] {
  const lines: [string, string][] = [];
  const open: Record<string, string | undefined> = {};
  for (const { stream, partial, text } of records) {
    const joined = (open[stream] ?? '') + text.toString().replaceAll('\0', '\uFFFD');
    open[stream] = partial ? joined : undefined;
    if (!partial) lines.push([stream, joined]);
  }
  for (const stream of ['stdout', 'stderr']) {
    const rest = open[stream];
    if (rest !== undefined) lines.push([stream, rest]);
  }
  return lines;
}
