/** A small seeded generator (mulberry32, Tommy Ettinger, 2017): the same seed, the same run. */
export interface Random {
  (): number;
  pick<T>(from: readonly T[]): T;
  /** A whole number from `least` to `most`. */
  between(least: number, most: number): number;
  shuffle<T>(items: readonly T[]): T[];
}

/** For a random test, which prints it: the seed of `TEST_SEED`, which repeats a run, else a new one. */
export const newSeed = (): number => Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));

export function seeded(seed: number): Random {
  let a = seed | 0;
  const next = (): number => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  return Object.assign(next, {
    pick: <T>(from: readonly T[]): T => from[Math.floor(next() * from.length)]!,
    between: (least: number, most: number): number => least + Math.floor(next() * (most - least + 1)),
    shuffle<T>(items: readonly T[]): T[] {
      const shuffled = [...items];
      for (let i = shuffled.length - 1; i > 0; i -= 1) {
        const j = Math.floor(next() * (i + 1));
        [shuffled[i], shuffled[j]] = [shuffled[j]!, shuffled[i]!];
      }
      return shuffled;
    },
  });
}
