import { buildMachineImageAhead } from '../packages/server/src/testing/machineImage.ts';
import { runChecks, TYPES } from './checks.ts';
import { type Docker, provideDocker } from './docker.ts';
import { provideTestPrograms } from './packages.ts';
import { add, failuresOf, noResults, passedIn, type Results, totalLine } from './results.ts';
import { exitCodeOf, listenForStop, stop, stopSignal } from './run.ts';
import { forgetRunningTests, runningTests } from './runningTests.ts';
import { lookAgain } from './secondLook.ts';
import {
  buildForStories,
  isBrowserTest,
  runStories,
  runUnitTests,
  type StoryProject,
  type UnitProject,
} from './suites.ts';
import { printTimes, timed } from './times.ts';

export type Tier = 'gate' | 'long';
type Sum = Promise<Results>;

const LIMIT_MS = Number(process.env.TEST_LIMIT_MINUTES ?? 60) * 60_000;
const TIME_TO_END_MS = 60_000;

interface Gate {
  results: Results;
  typesSeconds?: number;
}

const LONG = {
  units: ['long', 'docker-long'] satisfies UnitProject[],
  stories: ['kit', 'long', 'docker-long'] satisfies StoryProject[],
};

/**
 * Runs the tests of a tier, or those whose path matches, and ends the process. The gate with `paths` runs tests of every
 * tier. Only the whole gate looks a second time at what failed.
 */
export async function runTier(tier: Tier, paths: string[]): Promise<never> {
  listenForStop();
  const start = performance.now();
  provideTestPrograms({ long: tier === 'long' || paths.length > 0 });
  const since = new Date();
  const docker = await provideDocker();
  const withoutDocker = docker.available ? undefined : docker.reason;
  if (withoutDocker) console.log(`Tests that need Docker are skipped: ${withoutDocker}`);
  const installationMs = Number(process.env.INSTALL_SECONDS ?? 0) * 1000 + performance.now() - start;
  const testsFrom = performance.now();
  const isWhole = paths.length === 0;
  forgetRunningTests();
  const gate: Gate = { results: noResults() };
  let { results } = gate;
  try {
    if (tier === 'gate' && isWhole) {
      endAfterLimit(results);
      await runGate(gate, docker, withoutDocker);
      results = await timed('second look', () => lookAgain(gate.results, since, withoutDocker));
    } else results = await runChosen(tier, paths, withoutDocker);
  } finally {
    if (docker.available) await docker.stop();
  }
  const testsMs = performance.now() - testsFrom;
  if (isWhole) printTimes({ installationMs, testsMs, typesSeconds: gate.typesSeconds, files: results.files });
  if (withoutDocker) console.log(`Tests that need Docker were skipped: ${withoutDocker}`);
  endWith(results);
}

/** Says how the tests ended, and ends this process. */
export function endWith(results: Results): never {
  for (const failure of failuresOf(results)) console.log(`\nFailed: ${failure}`);
  console.log(totalLine(results));
  const signal = stopSignal();
  if (signal) process.exit(exitCodeOf(signal));
  process.exit(failuresOf(results).length > 0 || passedIn(results) === 0 ? 1 : 0);
}

/** A gate that hangs tells nobody what hung: after an hour it ends by itself and names the files that ran then. */
function endAfterLimit(results: Results): void {
  const end = (): void => {
    const ran = runningTests().join(', ') || 'no test file';
    results.fatal.push(`npm test ended itself after ${LIMIT_MS / 60_000} minutes. Running then: ${ran}`);
    stop('SIGTERM');
    setTimeout(() => endWith(results), TIME_TO_END_MS).unref();
  };
  setTimeout(end, LIMIT_MS).unref();
}

/**
 * What is done on Docker waits more than it computes, so it runs beside the others; not beside the other stories, since
 * a browser drops what it is loading whenever a network comes or goes.
 */
async function runGate(gate: Gate, docker: Docker, withoutDocker: string | undefined): Promise<void> {
  const { results } = gate;
  const checking = timed('checks', runChecks);
  const beside = await Promise.allSettled([
    runOnDocker(docker, withoutDocker, checking),
    checking.then(() => timed('unit and HTTP tests', () => runUnitTests({ projects: ['unit', 'alone'] }))),
  ]);
  for (const part of beside) {
    if (part.status === 'rejected') throw part.reason;
    add(results, part.value);
  }
  for (const { name, seconds, failed } of await checking) {
    if (name === TYPES) gate.typesSeconds = seconds;
    if (failed) results.fatal.push(`npm run check, ${name}: see above`);
  }
  add(results, await timed('stories', () => runStories({ withoutDocker, projects: ['browser'] })));
}

async function runOnDocker(docker: Docker, withoutDocker: string | undefined, checking: Promise<unknown>): Sum {
  const imageBuild = docker.available ? await buildMachineImageAhead() : null;
  try {
    const running = timed('tests on Docker', () => runUnitTests({ withoutDocker, projects: ['docker'] }));
    // The checks build the web app too. What the stories need is made while these tests wait.
    const building = checking.then(buildForStories);
    const [results] = await Promise.all([running, building.finally(() => running)]);
    add(results, await timed('stories on Docker', () => runStories({ withoutDocker, projects: ['docker'] })));
    return results;
  } finally {
    await imageBuild?.stop();
  }
}

async function runChosen(tier: Tier, paths: string[], withoutDocker: string | undefined): Sum {
  const results = noResults();
  const stories = paths.filter(isBrowserTest);
  const others = paths.filter((path) => !isBrowserTest(path));
  const chosen = tier === 'long' ? LONG : { units: undefined, stories: undefined };
  const all = paths.length === 0;
  if (all || others.length > 0) {
    const choice = { withoutDocker, paths: others, ...(chosen.units && { projects: chosen.units }) };
    add(results, await timed('tests without a browser', () => runUnitTests(choice)));
  }
  if (!all && stories.length === 0) return results;
  await buildForStories();
  const choice = { withoutDocker, paths: stories, ...(chosen.stories && { projects: chosen.stories }) };
  add(results, await timed('stories', () => runStories(choice)));
  return results;
}
