import { runChecks } from './checks.ts';
import { provideDocker } from './docker.ts';
import { provideTestPrograms } from './packages.ts';
import { exitCodeOf, listenForStop, stopSignal } from './run.ts';
import { add, buildForStories, isBrowserTest, noTests, runBrowserTests, runUnitTests, totalLine } from './suites.ts';

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
 * The tests on Docker wait more than they compute, so they run beside the others; not beside the stories, since a
 * browser drops what it is loading whenever a network comes or goes. The stories that make containers of their own
 * measure, so they come last and alone.
 */
async function runAll() {
  const failedChecks = await runChecks();
  add(totals, { failed: failedChecks, failures: failedChecks > 0 ? ['npm run check: see above'] : [] });
  const beside = [runUnitTests([], withoutDocker, 'unit'), runUnitTests([], withoutDocker, 'docker')];
  for (const part of await Promise.all(beside)) add(totals, part);
  await buildForStories();
  add(totals, await runBrowserTests([], withoutDocker, ['kit', 'browser']));
  add(totals, await runBrowserTests([], withoutDocker, ['docker']));
}

async function runChosen() {
  const stories = paths.filter(isBrowserTest);
  const others = paths.filter((path) => !isBrowserTest(path));
  if (others.length > 0) add(totals, await runUnitTests(others, withoutDocker));
  if (stories.length === 0) return;
  await buildForStories();
  add(totals, await runBrowserTests(stories, withoutDocker));
}
