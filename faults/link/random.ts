/** A small seeded generator (Tommy Ettinger, 2017). */
export interface Random {
  /** From 0 up to, not including, 1. */
  next(): number;
  between(from: number, to: number): number;
  pick<T>(options: readonly T[]): T;
}

export function randomFrom(seed: number): Random {
  let state = seed | 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  return {
    next,
    between: (from, to) => from + next() * (to - from),
    pick: (options) => options[Math.floor(next() * options.length)]!,
  };
}
