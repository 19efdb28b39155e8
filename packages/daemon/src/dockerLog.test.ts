import { decodeRecords, encodeRecord } from '@stagi/contract/frames.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dockerLogParser, type RawRecord } from './dockerLogParser.ts';
import { type LogPosition, openReading, REORDER_WINDOW_NS, readSince } from './logPosition.ts';

const SECOND = 1_000_000_000n;
const BASE = 1_795_232_245n * SECOND;

function frame(record: { timeNs: bigint; stream: 'stdout' | 'stderr'; text: string; ended?: boolean }): Buffer {
  const seconds = new Date(Number(record.timeNs / 1_000_000n)).toISOString().slice(0, 19);
  const time = `${seconds}.${String(record.timeNs % SECOND).padStart(9, '0')}Z`;
  const payload = Buffer.from(`${time} ${record.text}${record.ended === false ? '' : '\n'}`);
  const header = Buffer.alloc(8);
  header[0] = record.stream === 'stderr' ? 2 : 1;
  header.writeUInt32BE(payload.length, 4);
  return Buffer.concat([header, payload]);
}

describe("the parser of Docker's log stream", () => {
  const line = fc.record({
    timeNs: fc.bigInt({ min: 0n, max: 4_000_000_000n * SECOND }),
    stream: fc.constantFrom('stdout' as const, 'stderr' as const),
    text: fc.string({ unit: 'grapheme', maxLength: 200 }).map((text) => text.replaceAll('\n', ' ')),
  });

  it('gives the same records however the stream is split into chunks', () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 20 }), fc.array(fc.nat(50), { minLength: 1 }), (lines, cuts) => {
        const bytes = Buffer.concat(lines.map(frame));
        const parser = dockerLogParser();
        const records: RawRecord[] = [];
        for (let at = 0, turn = 0; at < bytes.length; turn++) {
          const length = 1 + cuts[turn % cuts.length]!;
          records.push(...parser.push(bytes.subarray(at, at + length)));
          at += length;
        }
        expect(records.map(({ text, ...rest }) => ({ ...rest, text: text.toString() }))).toEqual(
          lines.map((one) => ({ ...one, partial: false })),
        );
      }),
    );
  });

  it('marks the parts of a line that Docker split as partial, but not a last line without a line feed', () => {
    const parts = [
      { timeNs: BASE, stream: 'stdout' as const, text: 'x'.repeat(16_384), ended: false },
      { timeNs: BASE, stream: 'stdout' as const, text: 'rest' },
      { timeNs: BASE, stream: 'stdout' as const, text: 'prompt> ', ended: false },
    ];
    const records = dockerLogParser().push(Buffer.concat(parts.map(frame)));
    expect(records.map(({ partial }) => partial)).toEqual([true, false, false]);
  });

  it('splits records that are too long for a frame', () => {
    const text = 'y'.repeat(100_000);
    const records = dockerLogParser().push(frame({ timeNs: BASE, stream: 'stderr', text }));
    expect(records.map(({ partial }) => partial)).toEqual([true, true, true, false]);
    expect(records.map((record) => record.text.toString()).join('')).toBe(text);
  });

  it('throws on bytes of another format', () => {
    expect(() => dockerLogParser().push(Buffer.alloc(64, 7))).not.toThrow();
    expect(() => dockerLogParser().push(Buffer.from('\x07\0\0\0\0\0\0\x01x'))).toThrow('unknown kind');
    expect(() => dockerLogParser().push(Buffer.from('\x01\0\0\0\0\0\0\x05hello'))).toThrow('without a time');
  });
});

describe('log records', () => {
  it('decode to what was encoded', () => {
    const record = fc.record({
      timeNs: fc.bigInt({ min: 0n, max: 2n ** 63n }),
      stream: fc.constantFrom('stdout' as const, 'stderr' as const),
      partial: fc.boolean(),
      text: fc.uint8Array({ maxLength: 300 }),
    });
    fc.assert(
      fc.property(fc.array(record), (records) => {
        const bytes = Buffer.concat(records.map(encodeRecord));
        const decoded = decodeRecords(bytes);
        expect(decoded.consumed).toBe(bytes.length);
        expect(decoded.records.map((one) => ({ ...one, text: [...one.text] }))).toEqual(
          records.map((one) => ({ ...one, text: [...one.text] })),
        );
      }),
    );
  });
});

const SNAPSHOT = { seek: true, mayReplay: false };
const FOLLOW = { seek: true, mayReplay: true };

describe('resuming from a position', () => {
  const raw = (timeNs: bigint, text: string): RawRecord => ({
    timeNs,
    stream: 'stdout',
    partial: false,
    text: Buffer.from(text),
  });
  const start = (): LogPosition => ({ offset: 0, timeNs: null, recordsAtTime: 0 });

  /** What Docker returns: records in file order, without those older than `since`. */
  const since = (log: RawRecord[], time: bigint) => log.filter(({ timeNs }) => timeNs >= time);

  it('neither loses nor duplicates a record, wherever it is interrupted and however stdout and stderr are swapped', () => {
    const step = fc.record({
      // Mostly small steps ahead, some equal, some back by less than the allowed disorder, rarely a clock set back.
      by: fc.oneof(
        { weight: 6, arbitrary: fc.bigInt({ min: 0n, max: 3n * SECOND }) },
        { weight: 3, arbitrary: fc.constant(0n) },
        { weight: 3, arbitrary: fc.bigInt({ min: -REORDER_WINDOW_NS / 2n, max: 0n }) },
      ),
    });
    fc.assert(
      fc.property(
        fc.array(step, { minLength: 1, maxLength: 60 }),
        fc.infiniteStream(fc.integer({ min: 1, max: 9 })),
        (steps, takes) => {
          let clock = BASE;
          let highest = BASE;
          const log = steps.map(({ by }, index) => {
            clock += by;
            // A record may be behind the newest only by less than the allowed disorder.
            if (clock < highest - REORDER_WINDOW_NS / 2n) clock = highest - REORDER_WINDOW_NS / 2n;
            if (clock > highest) highest = clock;
            return raw(clock, String(index));
          });
          const position = start();
          const passed: string[] = [];
          const nowMs = Number(highest / 1_000_000n) + 1;
          for (let rounds = 0; passed.length < log.length; rounds++) {
            expect(rounds).toBeLessThanOrEqual(log.length);
            const pass = openReading(position, SNAPSHOT);
            let left = takes.next().value!;
            for (const record of since(log, readSince(position, nowMs))) {
              const next = pass.next(record);
              if (!next) continue;
              passed.push(Buffer.from(next.text).toString());
              if (--left === 0) break;
            }
            expect(pass.seeking()).toBe(false);
          }
          expect(passed).toEqual(log.map(({ text }) => text.toString()));
        },
      ),
      { numRuns: 500 },
    );
  });

  it('skips records that Docker repeats for a follower', () => {
    const line = fc.record({
      stream: fc.constantFrom('stdout' as const, 'stderr' as const),
      pieces: fc.integer({ min: 1, max: 3 }),
      alike: fc.boolean(),
      by: fc.bigInt({ min: 1n, max: SECOND }),
    });
    fc.assert(
      fc.property(fc.array(line, { minLength: 2, maxLength: 30 }), fc.nat(), fc.nat(), (lines, one, other) => {
        let clock = BASE;
        const log = lines.flatMap(({ stream, pieces, alike, by }, index) => {
          clock += by;
          return Array.from({ length: pieces }, (_, piece) => ({
            ...raw(clock, alike ? 'alike' : `${index}.${piece}`),
            stream,
            partial: piece < pieces - 1,
          }));
        });
        const to = one % log.length;
        // Only one record back: nothing is repeated.
        const from = other % (to + 2);
        const position = start();
        const passed: string[] = [];
        const pass = (record: RawRecord, on: ReturnType<typeof openReading>) => {
          const next = on.next(record);
          if (next) passed.push(Buffer.from(next.text).toString());
        };
        const follow = openReading(position, FOLLOW);
        for (const record of [...log.slice(0, to + 1), ...log.slice(from)]) {
          pass(record, follow);
          if (follow.seeking() && follow.overshot()) break;
        }
        const snapshot = openReading(position, SNAPSHOT);
        for (const record of since(log, readSince(position, Number(clock / 1_000_000n) + 1))) pass(record, snapshot);
        expect(passed).toEqual(log.map(({ text }) => text.toString()));
      }),
      { numRuns: 500 },
    );
  });

  it('detects that its position is lost when only later records are left', () => {
    const pass = openReading({ offset: 10, timeNs: BASE, recordsAtTime: 2 }, SNAPSHOT);
    pass.next(raw(BASE + 5n * SECOND, 'later'));
    expect(pass.seeking() && pass.overshot()).toBe(true);
  });

  it('takes an empty log for nothing new, not for a loss', () => {
    const pass = openReading({ offset: 10, timeNs: BASE, recordsAtTime: 1 }, SNAPSHOT);
    expect(pass.overshot()).toBe(false);
  });

  it('continues after the clock was set back', () => {
    const log = [
      raw(BASE, 'a'),
      raw(BASE + SECOND, 'b'),
      raw(BASE - 3600n * SECOND, 'c'),
      raw(BASE - 3599n * SECOND, 'd'),
    ];
    const position = start();
    const first = openReading(position, SNAPSHOT);
    for (const record of log.slice(0, 3)) first.next(record);
    const second = openReading(position, SNAPSHOT);
    const rest = since(log, readSince(position, Number((BASE - 3599n * SECOND) / 1_000_000n))).map(second.next);
    expect(rest.filter((record) => record !== null).map(({ text }) => text.toString())).toEqual(['d']);
  });
});
