import { crc32 } from 'node:zlib';
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
  /** Seeking anew, since Docker seems to send records once more. */
  replaying(): boolean;
  /** While seeking, later records came, or it cannot be told: at the end of a log this means that the position's record is gone from it. */
  overshot(): boolean;
  /** Docker's own time of the last record read. */
  last(): bigint | null;
}

/**
 * Begins a reading, which moves `position` along. Without `seek` everything read counts as new (after a loss). With
 * `mayReplay` a stream whose times fall back is taken for one that Docker sends once more, as it does with followers
 * when it rotates its files, and skipped up to the position.
 */
export function reading(position: Position, { seek, mayReplay }: { seek: boolean; mayReplay: boolean }): Reading {
  let seeking = seek && position.timeNs !== null && position.recordsAtTime > 0;
  let replayed = false;
  let unsure = false;
  let met = 0;
  let overshot = false;
  let last: bigint | null = null;
  let lastRaw: bigint | null = null;
  const comesAgain = mayReplay ? repetitions() : () => 'no' as const;

  function seekAgain(certain: boolean): void {
    seeking = true;
    replayed = true;
    unsure = !certain;
    met = 0;
    last = null;
  }
  return {
    next(raw) {
      const again = comesAgain(raw);
      if (!seeking && again !== 'no') seekAgain(again === 'yes');
      lastRaw = raw.timeNs;
      if (unsure) return null;
      const timeNs = last !== null && raw.timeNs < last && last - raw.timeNs <= DISORDER_NS ? last : raw.timeNs;
      last = timeNs;
      if (seeking) {
        if (timeNs === position.timeNs && ++met === position.recordsAtTime) seeking = false;
        else if (position.timeNs !== null && timeNs > position.timeNs) overshot = true;
        return null;
      }
      position.recordsAtTime = position.timeNs === timeNs ? position.recordsAtTime + 1 : 1;
      position.timeNs = timeNs;
      return { timeNs, stream: raw.stream, partial: raw.partial, text: raw.text };
    },
    seeking: () => seeking,
    replaying: () => seeking && replayed,
    overshot: () => overshot || unsure,
    last: () => lastRaw,
  };
}

/**
 * Whether a record was sent before. Within one stream times rise with every line. The parts of a split line share one,
 * and so may lines on a machine with a coarse clock: two of the same time and content can be told apart only by
 * counting, in a reading that does not follow.
 */
function repetitions(): (raw: RawRecord) => 'yes' | 'no' | 'maybe' {
  const newest = new Map<RawRecord['stream'], { timeNs: bigint; contents: Set<number> }>();
  return ({ stream, timeNs, text }) => {
    const before = newest.get(stream);
    const content = crc32(text);
    if (!before || before.timeNs !== timeNs) {
      newest.set(stream, { timeNs, contents: new Set([content]) });
      return before && timeNs < before.timeNs ? 'yes' : 'no';
    }
    if (before.contents.has(content)) return 'maybe';
    before.contents.add(content);
    return 'no';
  };
}
