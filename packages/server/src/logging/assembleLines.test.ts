import { encodeRecord, type LogRecord } from '@stagi/contract/frames.ts';
import { newSeed } from '@stagi/contract/testing/random.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AssemblyState, assembleLines, type Lines, MAX_LINE_BYTES } from './assembleLines.ts';

const START: AssemblyState = { offset: 0, lastTimeNs: null, recordsAtTime: 0, stdout: null, stderr: null };

const record = (text: string, more: Partial<LogRecord> = {}): Uint8Array =>
  encodeRecord({ timeNs: 1n, stream: 'stdout', partial: false, text: Buffer.from(text), ...more });

function rows({ text, times, stderr, count }: Lines) {
  const texts = text.split('\n').slice(0, count);
  return texts.map((line, index) => ({ line, time: times[index], stderr: stderr[index] }));
}

describe('assembling lines of an encoded stream', () => {
  it('joins partial records of one output, with the time of the first part', () => {
    const { lines, standing } = run([
      record('one ', { partial: true, timeNs: 5n }),
      record('other', { stream: 'stderr', timeNs: 6n }),
      record('line', { timeNs: 7n }),
    ]);
    expect(lines).toEqual([
      { line: 'other', time: 6n, stderr: true },
      { line: 'one line', time: 5n, stderr: false },
    ]);
    expect(standing).toMatchObject({ lastTimeNs: 7n, recordsAtTime: 1, stdout: null });
  });

  it('keeps empty lines, and replaces invalid UTF-8 and NUL', () => {
    const { lines } = run([
      record(''),
      encodeRecord({ timeNs: 1n, stream: 'stdout', partial: false, text: Buffer.from([0x61, 0xff, 0, 0x62]) }),
    ]);
    expect(lines.map(({ line }) => line)).toEqual(['', 'a\uFFFD\uFFFDb']);
  });

  it('splits a line of more than 64 KiB without losing or splitting a character', () => {
    const part = 'é'.repeat(16 * 1024);
    const { lines } = run([...Array.from({ length: 5 }, () => record(`x${part}`, { partial: true })), record('end')]);
    expect(lines.map(({ line }) => line).join('')).toBe(`${`x${part}`.repeat(5)}end`);
    expect(lines.every(({ line }) => Buffer.byteLength(line) <= MAX_LINE_BYTES)).toBe(true);
    expect(lines.length).toBeGreaterThan(1);
  });

  it('keeps a line feed that a daemon smuggles into a record within its line', () => {
    const { lines } = run([record('a\nb'), record('c')]);
    expect(lines.map(({ line }) => line)).toEqual(['a b', 'c']);
  });

  it('refuses a record that is too long or has an invalid time', () => {
    const long = record('a');
    new DataView(long.buffer).setUint32(9, 1_000_000);
    expect(() => assembleLines(START).take(long)).toThrow(RangeError);
    expect(() => assembleLines(START).take(record('a', { timeNs: 2n ** 63n }))).toThrow(RangeError);
  });

  it('gives the same lines however the bytes are split and wherever a new link resumes', () => {
    const seed = newSeed();
    const runs = 300;
    console.log(`log lines: n = ${runs}, seed ${seed}`);
    const anyRecord = fc.record({
      timeNs: fc.integer({ min: 1, max: 4 }).map(BigInt),
      stream: fc.constantFrom('stdout' as const, 'stderr' as const),
      partial: fc.boolean(),
      text: fc.string({ unit: 'binary', maxLength: 12 }).map((text) => Buffer.from(text)),
    });
    fc.assert(
      fc.property(
        fc.array(anyRecord, { minLength: 1, maxLength: 20 }),
        fc.array(fc.nat(400), { maxLength: 12 }),
        fc.array(fc.boolean(), { maxLength: 14 }),
        (records, cuts, breaks) => {
          const bytes = Buffer.concat(records.map(encodeRecord));
          const whole = assembleLines(START);
          const expected = [...rows(whole.take(bytes)), ...rows(whole.flush())];

          let assembly = assembleLines(START);
          const got: ReturnType<typeof rows> = [];
          const ends = [...new Set(cuts.map((cut) => cut % bytes.length))].toSorted((a, b) => a - b);
          let from = 0;
          for (const [index, end] of [...ends, bytes.length].entries()) {
            got.push(...rows(assembly.take(bytes.subarray(from, end))));
            from = end;
            if (breaks[index]) {
              // A new link resumes after the last complete record that was stored.
              assembly = assembleLines(assembly.state());
              from = assembly.state().offset;
            }
          }
          if (from < bytes.length) got.push(...rows(assembly.take(bytes.subarray(from))));
          got.push(...rows(assembly.flush()));
          expect(got).toEqual(expected);
        },
      ),
      { numRuns: runs, seed },
    );
  });
});

function run(records: Uint8Array[]) {
  const assembly = assembleLines(START);
  const lines = rows(assembly.take(Buffer.concat(records)));
  return { lines, standing: assembly.state() };
}
