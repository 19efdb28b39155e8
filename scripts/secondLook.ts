import { join } from 'node:path';
import { removeTestLeftovers } from './dockerLeftovers.ts';
import { add, type FileResult, noResults, type Results } from './results.ts';
import { ROOT, stopSignal } from './run.ts';
import { runStories, runUnitTests } from './suites.ts';

const LOOK_MS = 6 * 60_000;
const MOST_FLAKY = 5;

interface Flaky {
  /** The errors of the first run. */
  failures: string[];
  seeds: string[];
  /** Files that ran at the same time in the first run. */
  neighbours: string[];
}

/**
 * Runs each file that failed once more, alone, and lets its second result replace the first. A file that passes then is
 * flaky: it is printed, and only fails the run when there are too many. Files that six minutes do not reach stay failed.
 */
export async function lookAgain(first: Results, since: Date, withoutDocker?: string): Promise<Results> {
  const failed = first.files.filter(({ failures }) => failures.length > 0);
  // A fatal failure may be what made the others fail, and the run stays failed anyway.
  if (failed.length === 0 || first.fatal.length > 0 || stopSignal()) return first;
  console.log(`\nA second look at ${failed.length} files that failed`);
  if (!withoutDocker) await removeTestLeftovers(since);
  const deadline = Date.now() + LOOK_MS;
  const results: Results = { ...first, files: first.files.filter((file) => !failed.includes(file)) };
  const flaky: Flaky[] = [];
  for (const file of failed) {
    const second = await runAlone(file, deadline - Date.now(), withoutDocker);
    add(results, second ?? { ...noResults(), files: [file] });
    if (second && passes(second))
      flaky.push({ failures: file.failures, seeds: file.seeds, neighbours: neighboursOf(file, first.files) });
  }
  return reportFlaky(results, flaky);
}

/** The second result of a file, or null where there was no time for one. */
async function runAlone(first: FileResult, timeoutMs: number, withoutDocker?: string): Promise<Results | null> {
  if (timeoutMs <= 0 || stopSignal()) return null;
  const path = join(ROOT, first.file);
  const choice = { withoutDocker, alone: { timeoutMs } };
  const second =
    first.runner === 'vitest'
      ? await runUnitTests({ ...choice, paths: [path] })
      : await runStories({ ...choice, paths: [`^${path.replaceAll(/[.\\+*?[^\]$(){}|]/g, '\\$&')}$`] });
  const ran = second.files.some(({ file }) => file === first.file);
  // Ended by the deadline, or by something worse that its first failure may tell of.
  return ran ? { ...second, notRun: 0 } : null;
}

const passes = ({ files, fatal }: Results) =>
  fatal.length === 0 && files.every(({ failures, passed }) => failures.length === 0 && passed > 0);

const neighboursOf = (of: FileResult, files: FileResult[]): string[] =>
  files.filter((one) => one !== of && one.from < of.until && one.until > of.from).map(({ file }) => file);

function reportFlaky(results: Results, flaky: Flaky[]): Results {
  const count = flaky.reduce((all, { failures }) => all + failures.length, 0);
  if (count === 0) return results;
  console.log(`\nFlaky: ${count}`);
  for (const { failures, seeds, neighbours } of flaky) {
    for (const failure of failures) console.log(failure);
    for (const seed of seeds) console.log(`    ${seed}`);
    console.log(`    beside: ${neighbours.join(', ') || 'nothing else'}`);
  }
  if (count <= MOST_FLAKY) return results;
  return { ...results, fatal: [...results.fatal, `${count} flaky tests, and ${MOST_FLAKY} are the most: see above`] };
}
