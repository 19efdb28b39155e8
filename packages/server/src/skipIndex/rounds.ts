import type { Block } from './blocks.ts';

/** Part of an order, as the edges of a block. */
export interface Stretch {
  low: string | null;
  high: string | null;
}

/** As many as are gone along at once. */
const LANES = 4;
/** Blocks of a stretch in the first round, and how many times as many in each one after it. */
const FIRST = 4;
const GROWTH = 2;
/** A way that is parted at more gaps takes longer to be asked for than to be gone. */
const GAPS = 31;

/**
 * The stretches of an order that take in these blocks, in the order's direction: short ones first, as what is looked for
 * may stand close together; those of one round are gone along at once.
 */
export function* roundsOf(blocks: readonly Block[], isAsc: boolean): Generator<Stretch[]> {
  const gaps = blocks.slice(1).map(({ no }, at) => no - blocks[at]!.no - 1);
  const bridged = gaps.toSorted((a, b) => b - a)[GAPS] ?? 0;
  const left = isAsc ? blocks : blocks.toReversed();
  for (let at = 0, most = FIRST; at < left.length; most *= GROWTH) {
    const round: Stretch[] = [];
    while (round.length < LANES && at < left.length) {
      const first = left[at]!;
      let last = first;
      for (at += 1; at < left.length; at += 1) {
        const next = left[at]!;
        const isNear = Math.abs(next.no - last.no) - 1 <= bridged && Math.abs(next.no - first.no) < most;
        if (!isNear) break;
        last = next;
      }
      round.push(isAsc ? { low: first.low, high: last.high } : { low: last.low, high: first.high });
    }
    yield round;
  }
}
