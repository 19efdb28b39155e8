import { newSeed as newTestSeed } from '@stagi/contract/testing/random.ts';

export { type Random, seeded } from '@stagi/contract/testing/random.ts';

/** `--name=value` of the command line as a number. */
export function option(name: string, otherwise: number): number {
  const text = process.argv.find((argument) => argument.startsWith(`--${name}=`))?.slice(name.length + 3);
  return text === undefined ? otherwise : Number(text);
}

/** A seed to print: the one that `--seed=` or `TEST_SEED` asks for, else a new one. */
export const newSeed = (): number => option('seed', newTestSeed());

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}
