import { buildMachineImageAhead } from '../packages/server/src/testing/machineImage.ts';
import { runChecks } from './checks.ts';
import { provideDocker } from './docker.ts';
import { provideTestPrograms } from './packages.ts';
import { exitCodeOf, listenForStop, stopSignal } from './run.ts';
import {
  add,
  buildForStories,
  isBrowserTest,
  noTests,
  runBrowserTests,
  runUnitTests,
  type Totals,
  totalLine,
} from './suites.ts';

// `npm test` runs the checks and every test; `npm test -- path …` the tests whose files match.
const paths = process.argv.slice(2);
const all = paths.length === 0;
listenForStop();
provideTestPrograms();
const docker = await provideDocker();
const withoutDocker = docker.available ? undefined : docker.reason;
if (withoutDocker) console.log(`Tests that need Docker are skipped: ${withoutDocker}`);

const totals = noTests();
try {
  if (all) await runAll();
  else await runChosen();
} finally {
  if (docker.available) await docker.stop();
}

const signal = stopSignal();
if (withoutDocker) console.log(`Tests that need Docker were skipped: ${withoutDocker}`);
for (const failure of totals.failures) console.log(`\nFailed: ${failure}`);
console.log(totalLine(totals));
process.exit(signal ? exitCodeOf(signal) : totals.failed > 0 || totals.passed === 0 ? 1 : 0);

/**
 * What is done on Docker waits more than it computes, so it runs beside the others; not beside the other stories, since
 * a browser drops what it is loading whenever a network comes or goes. What measures comes last and alone.
 */
async function runAll() {
  const checking = runChecks();
  const beside = await Promise.allSettled([runOnDocker(checking), runWithoutDocker(checking)]);
  for (const part of beside) {
    if (part.status === 'rejected') throw part.reason;
    add(totals, part.value);
  }
  add(totals, await runBrowserTests([], withoutDocker, ['kit', 'browser']));
  add(totals, await runUnitTests([], withoutDocker, 'measured'));
  add(totals, await runBrowserTests([], withoutDocker, ['measured']));
}

async function runOnDocker(checking: Promise<number>): Promise<Totals> {
  const imageBuild = docker.available ? await buildMachineImageAhead() : null;
  try {
    return await runTestsOnDocker(checking);
  } finally {
    await imageBuild?.stop();
  }
}

async function runTestsOnDocker(checking: Promise<number>): Promise<Totals> {
  const running = runUnitTests([], withoutDocker, 'docker');
  // The checks build the web app too. What the stories need is made while these tests wait.
  const building = checking.then(buildForStories);
  const [tests] = await Promise.all([running, building.finally(() => running)]);
  add(tests, await runBrowserTests([], withoutDocker, ['docker']));
  return tests;
}

async function runWithoutDocker(checking: Promise<number>): Promise<Totals> {
  const failed = await checking;
  const tests = await runUnitTests([], withoutDocker, 'unit');
  add(tests, { failed, failures: failed > 0 ? ['npm run check: see above'] : [] });
  return tests;
}

async function runChosen() {
  const stories = paths.filter(isBrowserTest);
  const others = paths.filter((path) => !isBrowserTest(path));
  if (others.length > 0) add(totals, await runUnitTests(others, withoutDocker));
  if (stories.length === 0) return;
  await buildForStories();
  add(totals, await runBrowserTests(stories, withoutDocker));
}
