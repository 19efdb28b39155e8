import { buildMachineImageAhead } from '../packages/server/src/testing/machineImage.ts';
import { runChecks } from './checks.ts';
import { type Docker, provideDocker } from './docker.ts';
import { provideTestPrograms } from './packages.ts';
import { add, failuresOf, noResults, passedIn, type Results, totalLine } from './results.ts';
import { exitCodeOf, listenForStop, stopSignal } from './run.ts';
import { lookAgain } from './secondLook.ts';
import {
  buildForStories,
  isBrowserTest,
  runStories,
  runUnitTests,
  type StoryProject,
  type UnitProject,
} from './suites.ts';

export type Tier = 'gate' | 'long';
type Sum = Promise<Results>;

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
  provideTestPrograms();
  const since = new Date();
  const docker = await provideDocker();
  const withoutDocker = docker.available ? undefined : docker.reason;
  if (withoutDocker) console.log(`Tests that need Docker are skipped: ${withoutDocker}`);
  let results = noResults();
  try {
    if (tier === 'gate' && paths.length === 0)
      results = await lookAgain(await runGate(docker, withoutDocker), since, withoutDocker);
    else results = await runChosen(tier, paths, withoutDocker);
  } finally {
    if (docker.available) await docker.stop();
  }
  if (withoutDocker) console.log(`Tests that need Docker were skipped: ${withoutDocker}`);
  for (const failure of failuresOf(results)) console.log(`\nFailed: ${failure}`);
  console.log(totalLine(results));
  const signal = stopSignal();
  if (signal) process.exit(exitCodeOf(signal));
  process.exit(failuresOf(results).length > 0 || passedIn(results) === 0 ? 1 : 0);
}

/**
 * What is done on Docker waits more than it computes, so it runs beside the others; not beside the other stories, since
 * a browser drops what it is loading whenever a network comes or goes.
 */
async function runGate(docker: Docker, withoutDocker: string | undefined): Sum {
  const results = noResults();
  const checking = runChecks();
  const beside = await Promise.allSettled([
    runOnDocker(docker, withoutDocker, checking),
    checking.then(() => runUnitTests({ projects: ['unit', 'alone'] })),
  ]);
  for (const part of beside) {
    if (part.status === 'rejected') throw part.reason;
    add(results, part.value);
  }
  if ((await checking) > 0) results.fatal.push('npm run check: see above');
  add(results, await runStories({ withoutDocker, projects: ['browser'] }));
  return results;
}

async function runOnDocker(docker: Docker, withoutDocker: string | undefined, checking: Promise<number>): Sum {
  const imageBuild = docker.available ? await buildMachineImageAhead() : null;
  try {
    const running = runUnitTests({ withoutDocker, projects: ['docker'] });
    // The checks build the web app too. What the stories need is made while these tests wait.
    const building = checking.then(buildForStories);
    const [results] = await Promise.all([running, building.finally(() => running)]);
    add(results, await runStories({ withoutDocker, projects: ['docker'] }));
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
  if (all || others.length > 0)
    add(results, await runUnitTests({ withoutDocker, paths: others, ...(chosen.units && { projects: chosen.units }) }));
  if (!all && stories.length === 0) return results;
  await buildForStories();
  add(
    results,
    await runStories({ withoutDocker, paths: stories, ...(chosen.stories && { projects: chosen.stories }) }),
  );
  return results;
}
