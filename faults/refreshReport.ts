import { percentile } from './random.ts';
import type { RaceReport } from './refresh.ts';
import type { RevocationReport } from './revocation.ts';

const REFUSED_WITHIN_MS = 2_000;

/** Prints the figures with their n, and returns the failures. */
export function reportRaces({ races, tabs, refreshes, falseSignOuts, survivingThieves, wrong }: RaceReport): string[] {
  const n = Object.values(races).reduce((sum, count) => sum + count, 0);
  const kinds = Object.entries(races).map(([kind, count]) => `${count} ${kind}`);
  console.log(
    `refresh: n = ${n} races (${kinds.join('; ')}), ${tabs} tabs, ${refreshes} refreshes: ` +
      `${falseSignOuts} false sign-outs, ${survivingThieves} surviving thief sessions, ${wrong.length} wrong`,
  );
  const failures = wrong.slice(0, 20);
  if (Object.values(races).includes(0)) failures.push('n = 0');
  // Fewer would mean that the tabs did not race.
  if (refreshes < tabs) failures.push(`only ${refreshes} refreshes of ${tabs} tabs`);
  if (falseSignOuts > 0) failures.push(`${falseSignOuts} false sign-outs`);
  if (survivingThieves > 0) failures.push(`${survivingThieves} surviving thief sessions`);
  return failures;
}

/** Prints the ways of revoking access and what was open meanwhile; returns the failures. */
export function reportRevocations({ ways, wrong }: RevocationReport, withinMs = REFUSED_WITHIN_MS): string[] {
  const failures = wrong.slice(0, 20);
  const everything: number[] = [];
  for (const [way, refusals] of ways) {
    const figures: string[] = [];
    for (const [what, all] of Object.entries(refusals) as [string, number[]][]) {
      const [p50, p99, worst] = [percentile(all, 0.5), percentile(all, 0.99), Math.max(...all)];
      figures.push(
        `${what} n = ${all.length}, p50 ${p50.toFixed(0)}, p99 ${p99.toFixed(0)}, max ${worst.toFixed(0)} ms`,
      );
      everything.push(...all);
      if (all.length === 0) failures.push(`${way}, ${what}: n = 0`);
      else if (!(p99 <= withinMs)) failures.push(`${way}, ${what}: refused after ${p99.toFixed(0)} ms`);
    }
    console.log(`removal to refusal, ${way}: ${figures.join('; ')}`);
  }
  const seconds = (at: number) => (percentile(everything, at) / 1000).toFixed(2);
  console.log(
    `seconds to denial: n = ${everything.length} over ${ways.size} ways, p50 ${seconds(0.5)}, p99 ${seconds(0.99)}, max ${seconds(1)}`,
  );
  if (ways.size === 0) failures.push('no way to take access away');
  return failures;
}
