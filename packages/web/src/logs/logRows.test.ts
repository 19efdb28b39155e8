import type { LogLine } from '@stagi/contract/logging.ts';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createLogRows, type LogRow, type LogRows } from './logRows.ts';

const line = (seq: number): LogLine => ({ seq, time: '2026-01-01T00:00:00Z', stream: 'stdout', text: `line ${seq}` });
const lines = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, step) => line(from + step));
const gap = (afterSeq: number) => ({ afterSeq, from: null, to: null, reason: 'lost' });
const shape = ({ rows }: LogRows) => rows.map((row) => (row.kind === 'line' ? row.line.seq : row.kind));
const unloadedOf = ({ rows }: LogRows) =>
  rows.find((row) => row.kind === 'unloaded') as Extract<LogRow, { kind: 'unloaded' }>;

it('leaves out lines that are there already', () => {
  const log = createLogRows();
  expect(log.append(lines(5, 7), [])).toBe(3);
  expect(log.append(lines(6, 9), [])).toBe(2);
  log.prepend(lines(3, 6), []);
  expect(shape(log)).toEqual([3, 4, 5, 6, 7, 8, 9]);
});

it('shows a gap once, behind the line it follows, whenever it is told', () => {
  const log = createLogRows();
  log.append(lines(1, 3), [gap(0), gap(2)]);
  log.append(lines(4, 4), [gap(2), gap(4)]);
  expect(shape(log)).toEqual(['gap', 1, 2, 'gap', 3, 4, 'gap']);
});

it('loads an unloaded range from its end until nothing is left of it', () => {
  const log = createLogRows();
  log.append(lines(1, 2), []);
  log.skip(3, 8);
  log.append(lines(9, 10), []);
  expect(shape(log)).toEqual([1, 2, 'unloaded', 9, 10]);
  log.load(unloadedOf(log), lines(6, 8), [], true);
  expect(shape(log)).toEqual([1, 2, 'unloaded', 6, 7, 8, 9, 10]);
  log.load(unloadedOf(log), lines(2, 5), [], true);
  expect(shape(log)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
});

it('removes an unloaded range that storage no longer has', () => {
  const log = createLogRows();
  log.append(lines(1, 2), []);
  log.skip(3, 8);
  log.load(unloadedOf(log), [], [], false);
  log.append(lines(9, 9), []);
  expect(shape(log)).toEqual([1, 2, 9]);
});

it('drops the oldest rows and takes their gaps again when they come back', () => {
  const log = createLogRows();
  log.append(lines(1, 6), [gap(1)]);
  expect(log.trim(10)).toBe(false);
  expect(log.trim(2)).toBe(true);
  expect(shape(log)).toEqual([5, 6]);
  log.prepend(lines(1, 4), [gap(1)]);
  expect(shape(log)).toEqual([1, 'gap', 2, 3, 4, 5, 6]);
});

const at = (seconds: number) => `2026-01-01T00:00:${String(seconds).padStart(2, '0')}.000000000Z`;
const run = (number: number, seconds: number, more = {}) => ({
  number,
  startedAt: at(seconds),
  endedAt: null,
  exitCode: null,
  linesFrom: at(seconds),
  ...more,
});
const timed = (from: number, to: number) => lines(from, to).map((one) => ({ ...one, time: at(one.seq) }));
const marks = ({ rows }: LogRows) =>
  rows.map((row) => (row.kind === 'run' ? `run ${row.run.number}` : row.kind === 'line' ? row.line.seq : row.kind));

it('marks a run before its first line, also when it is told late or when late lines of the run before come', () => {
  const log = createLogRows();
  log.append(timed(1, 4), []);
  log.addRuns([run(1, 0), run(2, 3)], true);
  expect(marks(log)).toEqual([1, 2, 'run 2', 3, 4]);
  log.addRuns([run(2, 3, { exitCode: 1, endedAt: at(7) }), run(3, 8)], true);
  expect(marks(log)).toEqual([1, 2, 'run 2', 3, 4, 'run 3']);
  log.append(timed(5, 6), []);
  expect(marks(log)).toEqual([1, 2, 'run 2', 3, 4, 5, 6, 'run 3']);
  log.append(timed(7, 9), []);
  log.append(timed(10, 11), []);
  expect(marks(log)).toEqual([1, 2, 'run 2', 3, 4, 5, 6, 7, 'run 3', 8, 9, 10, 11]);
  const third = log.rows.find((row) => row.kind === 'run' && row.run.number === 3);
  expect(third).toMatchObject({ before: { number: 2, exitCode: 1 } });
});

it('marks a run only where the line before it is loaded or there is none', () => {
  const log = createLogRows();
  log.append(timed(5, 6), []);
  log.addRuns([run(1, 0), run(2, 3)], false);
  expect(marks(log)).toEqual([5, 6]);
  log.prepend(timed(3, 4), []);
  expect(marks(log)).toEqual([3, 4, 5, 6]);
  log.prepend(timed(2, 2), []);
  expect(marks(log)).toEqual([2, 'run 2', 3, 4, 5, 6]);
  log.trim(3);
  expect(marks(log)).toEqual([4, 5, 6]);
  const silent = createLogRows();
  silent.append(timed(5, 6), []);
  silent.addRuns([run(1, 0), run(2, 3)], true);
  expect(marks(silent)).toEqual(['run 2', 5, 6]);
});

it('keeps every line once and in order, however often batches overlap', () => {
  const batch = fc.tuple(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: 9 }));
  fc.assert(
    fc.property(fc.array(batch, { maxLength: 30 }), (batches) => {
      const log = createLogRows();
      let last = 0;
      for (const [again, fresh] of batches) {
        log.append(lines(Math.max(1, last - again), last + fresh), []);
        last += fresh;
      }
      expect(shape(log)).toEqual(Array.from({ length: last }, (_, index) => index + 1));
    }),
  );
});
