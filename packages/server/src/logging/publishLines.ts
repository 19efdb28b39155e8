import type { LogLine } from '@stagi/contract/logging.ts';
import type { Bus } from '../bus/bus.ts';
import type { Lines } from './assembleLines.ts';
import { presentGap, presentLine } from './present.ts';

/** Publishes lines to their followers; they are built only when a follower reads them. */
export function publishLines(bus: Bus, containerId: number, lastSeq: number, lines: Lines): void {
  let made: LogLine[] | null = null;
  bus.publish('log', {
    containerId,
    gaps: [],
    get lines() {
      made ??= linesUpTo(lastSeq, lines);
      return made;
    },
  });
}

export function publishGap(
  bus: Bus,
  containerId: number,
  afterSeq: number,
  gap: { fromNs: bigint | null; toNs: bigint | null; reason: string },
): void {
  const row = { after_seq: BigInt(afterSeq), from_ns: gap.fromNs, to_ns: gap.toNs, reason: gap.reason };
  bus.publish('log', { containerId, lines: [], gaps: [presentGap(row)] });
}

function linesUpTo(lastSeq: number, { text, times, stderr, count }: Lines): LogLine[] {
  const texts = text.split('\n');
  return times.map((time_ns, index) =>
    presentLine({ seq: lastSeq - count + index + 1, time_ns, stderr: stderr[index]!, text: texts[index]! }),
  );
}
