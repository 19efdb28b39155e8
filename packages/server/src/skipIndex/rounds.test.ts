import { seeded } from '@stagi/contract/testing/random.ts';
import { describe, expect, it } from 'vitest';
import type { Block } from './blocks.ts';
import { roundsOf } from './rounds.ts';

const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);
const random = seeded(SEED);
const BLOCKS = 1_000;
const ROUNDS = 300;

/** From one edge to the next: block 3 begins at '3'. */
const block = (no: number): Block => ({
  no,
  low: no === 0 ? null : String(no),
  high: no === BLOCKS - 1 ? null : String(no + 1),
});
const first = (low: string | null) => (low === null ? 0 : Number(low));
const behind = (high: string | null) => (high === null ? BLOCKS : Number(high));

describe('the stretches of an order', () => {
  it('take in every block once, in the order’s direction, and no more than a few dozen beside long ones', () => {
    let skipped = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const share = random() ** 3;
      const from = random() < 0.5 ? 0 : random.between(0, BLOCKS - 1);
      const blocks = Array.from({ length: BLOCKS }, (_, no) => block(no)).filter(
        ({ no }) => no >= from && random() < share,
      );
      const isAsc = random() < 0.5;
      const stretches = [...roundsOf(blocks, isAsc)].flat();
      const hint = `seed ${SEED}, round ${round}`;
      const inTurn = isAsc ? stretches : stretches.toReversed();
      for (const [at, { low, high }] of inTurn.entries()) {
        expect(behind(high), hint).toBeGreaterThan(first(low));
        if (at > 0) expect(first(low), hint).toBeGreaterThanOrEqual(behind(inTurn[at - 1]!.high));
      }
      const taken = new Set(
        inTurn.flatMap(({ low, high }) => Array.from({ length: behind(high) - first(low) }, (_, n) => first(low) + n)),
      );
      for (const { no } of blocks) expect(taken.has(no), `${hint}, block ${no}`).toBe(true);
      // Each end lies at a block that is asked for.
      for (const { low, high } of stretches) {
        expect(
          blocks.some(({ no }) => no === first(low)),
          hint,
        ).toBe(true);
        expect(
          blocks.some(({ no }) => no === behind(high) - 1),
          hint,
        ).toBe(true);
      }
      expect(stretches.length, hint).toBeLessThan(50);
      skipped += BLOCKS - taken.size;
    }
    console.log(`stretches: n = ${ROUNDS} orders, ${skipped} blocks skipped, seed ${SEED}`);
    expect(skipped).toBeGreaterThan(0);
  });

  it('are short at first, as what is looked for may stand close together', () => {
    const all = Array.from({ length: BLOCKS }, (_, no) => block(no));
    const lengths = (isAsc: boolean) =>
      [...roundsOf(all, isAsc)].map((round) => round.map(({ low, high }) => behind(high) - first(low)));
    for (const isAsc of [true, false]) {
      const [one, two] = lengths(isAsc);
      expect(one).toEqual([4, 4, 4, 4]);
      expect(two).toEqual([8, 8, 8, 8]);
    }
  });

  it('are none where there are no blocks', () => {
    expect([...roundsOf([], true)]).toEqual([]);
  });
});
