import { crc32 } from 'node:zlib';
import type { LogCursor } from '@stagi/contract/daemon.ts';
import type { LogRecord } from '@stagi/contract/frames.ts';
import type { RawRecord } from './dockerLogParser.ts';

/** The last record of a log that was passed on. */
export interface LogPosition {
  offset: number;
  timeNs: bigint | null;
  recordsAtTime: number;
}

/**
 * Docker stamps a record before it takes the log's lock, so records of stdout and stderr may be out of order in the file.
 * Within this span they count as swapped; beyond it the clock was set back.
 */
export const REORDER_WINDOW_NS = 1_000_000_000n;

export function positionOf(cursor: LogCursor): LogPosition {
  const timeNs = cursor.timeNs === null ? null : BigInt(cursor.timeNs);
  return { offset: cursor.offset, timeNs, recordsAtTime: cursor.recordsAtTime };
}

/** The time to read Docker's log from, so that the record of the position and all later ones are included. */
export function readSince(position: LogPosition, nowMs: number): bigint {
  if (position.timeNs === null) return 0n;
  const now = BigInt(nowMs) * 1_000_000n;
  const base = position.timeNs < now ? position.timeNs : now;
  return base > REORDER_WINDOW_NS ? base - REORDER_WINDOW_NS : 0n;
}

/**
 * One pass over Docker's log. It skips the records up to the position. The later ones get times that never decrease
 * (unless the clock was set back), so that "the nth record of time t" identifies one record, and a pass that starts
 * elsewhere gives every record the same time.
 */
export interface LogReading {
  /** The record to pass on, or null while skipping. Moves the position's time and count, not its offset. */
  next(raw: RawRecord): LogRecord | null;
  /** The record of the position was not found yet. */
  seeking(): boolean;
  /** Seeking again, as Docker seems to repeat records. */
  replaying(): boolean;
  /** Later records came while seeking, or may have. At the end of a log this means that it no longer has the position. */
  overshot(): boolean;
  /** Docker's own time of the last record read. */
  lastTimeNs(): bigint | null;
}

/**
 * Begins a pass, which moves `position` along. Without `seek` every record counts as new (after a loss). With `mayReplay`
 * a time that falls back means that Docker repeats records, as it does for followers when it rotates its files: they are
 * skipped up to the position.
 */
export function openReading(
  position: LogPosition,
  { seek, mayReplay }: { seek: boolean; mayReplay: boolean },
): LogReading {
  let seeking = seek && position.timeNs !== null && position.recordsAtTime > 0;
  let replayed = false;
  let unsure = false;
  let met = 0;
  let overshot = false;
  let last: bigint | null = null;
  let lastRaw: bigint | null = null;
  const comesAgain = mayReplay ? repetitionDetector() : () => 'no' as const;

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
      const timeNs = last !== null && raw.timeNs < last && last - raw.timeNs <= REORDER_WINDOW_NS ? last : raw.timeNs;
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
    lastTimeNs: () => lastRaw,
  };
}

/**
 * Detects records that were sent before. Within one stream the times increase with every line, except that the parts of
 * a split line share one, as lines may on a machine with a coarse clock. Two of the same time and content can be told
 * apart only by counting, in a pass that does not follow.
 */
function repetitionDetector(): (raw: RawRecord) => 'yes' | 'no' | 'maybe' {
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
