import { seeded } from '../random.ts';

export interface Random {
  /** From 0 up to, not including, 1. */
  next(): number;
  between(from: number, to: number): number;
  pick<T>(options: readonly T[]): T;
}

export function randomFrom(seed: number): Random {
  const next = seeded(seed);
  return {
    next,
    between: (from, to) => from + next() * (to - from),
    pick: (options) => options[Math.floor(next() * options.length)]!,
  };
}
