import type { Comparison, NeighboursPlan } from './neighbours.ts';
import { count, isChosen, type Tally } from './neighboursAttack.ts';
import { KINDS, type Sample } from './neighboursVictim.ts';
import { percentile } from './random.ts';

/** The p95 of the victim may be so many times that of the control. */
const MOST = 3;
const SHOWN_ERRORS = 5;

/** Prints the figures with their n, and returns the failures. */
export function reportNeighbours(plan: NeighboursPlan, comparisons: readonly Comparison[]): string[] {
  const failures: string[] = [];
  for (const { by, control, attack, deaths, attacked } of comparisons) {
    failures.push(...deaths.map((what) => `${by}, ${what}`));
    console.log(`\nneighbours: ${plan.slow} slow and ${plan.greedy} greedy clients of ${by}`);
    for (const phase of ['control', 'attack'] as const) {
      const sums = summed(attacked[phase].map(({ tally }) => tally));
      const shares = (of: 'share' | 'ofPlatform') =>
        attacked[phase].map((one) => (one[of] >= 0 ? one[of].toFixed(2) : '?')).join(', ');
      console.log(
        `  ${phase}: of a processor, the clients took ${shares('share')}, the platform ${shares('ofPlatform')}`,
      );
      for (const [name, outcomes] of Object.entries(sums).filter(([name]) => isChosen(plan, name))) {
        console.log(`  ${phase}: ${name}: ${counts(outcomes)}`);
        if (Object.keys(outcomes).length === 0) failures.push(`${by}, ${phase}, ${name}: n = 0`);
      }
    }
    console.log(row(['', 'n control', 'n attack', 'p95 control', 'p95 attack', 'ratio', 'errors']));
    for (const kind of KINDS) {
      const [before, during] = [control, attack].map((samples) => samples.filter((one) => one.kind === kind)) as [
        Sample[],
        Sample[],
      ];
      const ratio = line(kind, before, during);
      for (const step of new Set(before.map((one) => one.step)))
        line(
          `  ${step}`,
          ...([before, during].map((all) => all.filter((one) => one.step === step)) as [Sample[], Sample[]]),
        );
      if (before.length === 0 || during.length === 0) failures.push(`${by}, ${kind}: n = 0`);
      else if (!(ratio <= MOST))
        failures.push(`${by}, ${kind}: the p95 is ${ratio.toFixed(1)} times that of the control`);
      for (const [phase, samples] of [
        ['control', before],
        ['attack', during],
      ] as const)
        failures.push(...errorsOf(samples).map((what) => `${by}, ${kind}, ${phase}: ${what}`));
    }
  }
  return failures;
}

/** Prints one line and answers the ratio. */
function line(name: string, control: Sample[], attack: Sample[]): number {
  const [before, during] = [control, attack].map((samples) =>
    percentile(
      samples.map(({ ms }) => ms),
      0.95,
    ),
  ) as [number, number];
  const errors = attack.filter(({ error }) => error !== null).length;
  const figures = [`${before.toFixed(0)} ms`, `${during.toFixed(0)} ms`, (during / before).toFixed(1)];
  console.log(row([name, String(control.length), String(attack.length), ...figures, String(errors)]));
  return during / before;
}

const row = ([name = '', ...cells]: string[]): string =>
  `  ${name.padEnd(16)}${cells.map((cell) => cell.padStart(13)).join('')}`;

/** Each with how often it came, the most frequent first. */
function errorsOf(samples: readonly Sample[]): string[] {
  const found = new Map<string, number>();
  for (const { step, error } of samples)
    if (error !== null) found.set(`${step}: ${error}`, (found.get(`${step}: ${error}`) ?? 0) + 1);
  const all = [...found].toSorted(([, a], [, b]) => b - a).map(([what, times]) => `${times} × ${what}`);
  return all.length > SHOWN_ERRORS
    ? [...all.slice(0, SHOWN_ERRORS), `and ${all.length - SHOWN_ERRORS} other errors`]
    : all;
}

function summed(tallies: readonly Tally[]): Tally {
  const sums: Tally = {};
  for (const tally of tallies)
    for (const [name, outcomes] of Object.entries(tally)) {
      sums[name] ??= {};
      for (const [outcome, times] of Object.entries(outcomes)) count(sums, name, outcome, times);
    }
  return sums;
}

const counts = (outcomes: Record<string, number>): string =>
  Object.entries(outcomes)
    .toSorted(([, a], [, b]) => b - a)
    .map(([outcome, times]) => `${times} × ${outcome}`)
    .join(', ');
