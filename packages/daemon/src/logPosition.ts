import type { LogCursor } from '@stagi/contract/daemon.ts';
import type { LogRecord } from '@stagi/contract/frames.ts';
import type { RawRecord } from './dockerLog.ts';

/** Up to which record a log was passed on. */
export interface Position {
  offset: number;
  timeNs: bigint | null;
  recordsAtTime: number;
}

/**
 * Docker dates a record before it takes the lock of the log, so the records of stdout and stderr may stand in the file
 * in another order than their times. Within this span they count as swapped; beyond it the clock was set back.
 */
export const DISORDER_NS = 1_000_000_000n;

export function positionFrom(cursor: LogCursor): Position {
  const timeNs = cursor.timeNs === null ? null : BigInt(cursor.timeNs);
  return { offset: cursor.offset, timeNs, recordsAtTime: cursor.recordsAtTime };
}

/** From which time Docker must be read so that the record of the position and all behind it are among what it sends. */
export function readSince(position: Position, nowMs: number): bigint {
  if (position.timeNs === null) return 0n;
  const now = BigInt(nowMs) * 1_000_000n;
  const base = position.timeNs < now ? position.timeNs : now;
  return base > DISORDER_NS ? base - DISORDER_NS : 0n;
}

/**
 * Goes over one reading of Docker's log. Records up to the position are skipped, those behind it get a time that never
 * falls below the one before (unless the clock was set back), so that "the nth record of time t" names one place, and a
 * second reading that begins elsewhere gives every record the same time.
 */
export interface Reading {
  /** The record to pass on, or null while skipping. Moves the position's time and count, not its offset. */
  next(raw: RawRecord): LogRecord | null;
  /** The record of the position has not been met. */
  seeking(): boolean;
  /** While seeking, later records came: at the end of a log this means that the position's record is gone from it. */
  overshot(): boolean;
  /** Docker's own time of the last record read. */
  last(): bigint | null;
}

/** `from` is moved along; with `seek` false everything read counts as new (after a loss). */
export function reading(position: Position, seek: boolean): Reading {
  const target = position.timeNs;
  let seeking = seek && target !== null && position.recordsAtTime > 0;
  let met = 0;
  let overshot = false;
  let last: bigint | null = null;
  let lastRaw: bigint | null = null;
  return {
    next(raw) {
      lastRaw = raw.timeNs;
      const timeNs = last !== null && raw.timeNs < last && last - raw.timeNs <= DISORDER_NS ? last : raw.timeNs;
      last = timeNs;
      if (seeking) {
        if (timeNs === target && ++met === position.recordsAtTime) seeking = false;
        else if (target !== null && timeNs > target) overshot = true;
        return null;
      }
      position.recordsAtTime = position.timeNs === timeNs ? position.recordsAtTime + 1 : 1;
      position.timeNs = timeNs;
      return { timeNs, stream: raw.stream, partial: raw.partial, text: raw.text };
    },
    seeking: () => seeking,
    overshot: () => overshot,
    last: () => lastRaw,
  };
}
