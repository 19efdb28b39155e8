import { runChecks } from './checks.ts';
import { provideDocker } from './docker.ts';
import { provideTestPrograms } from './packages.ts';
import { exitCodeOf, listenForStop, stopSignal } from './run.ts';
import { add, hasBrowserTests, isBrowserTest, runBrowserTests, runUnitTests, totalLine } from './suites.ts';

// `npm test` runs the checks and every test; `npm test -- path …` the tests whose files match.
const paths = process.argv.slice(2);
const all = paths.length === 0;
listenForStop();
provideTestPrograms();
const docker = await provideDocker();
const withoutDocker = docker.available ? undefined : docker.reason;
if (withoutDocker) console.log(`Tests that need Docker are skipped: ${withoutDocker}`);

const totals = { passed: 0, failed: 0, skipped: 0 };
try {
  if (all) add(totals, { failed: await runChecks() });
  const browserPaths = paths.filter(isBrowserTest);
  const unitPaths = paths.filter((path) => !isBrowserTest(path));
  if (all || unitPaths.length > 0) add(totals, await runUnitTests(unitPaths, withoutDocker));
  if (hasBrowserTests() && (all || browserPaths.length > 0))
    add(totals, await runBrowserTests(browserPaths, withoutDocker));
} finally {
  if (docker.available) await docker.stop();
}

const signal = stopSignal();
if (withoutDocker) console.log(`Tests that need Docker were skipped: ${withoutDocker}`);
console.log(totalLine(totals));
process.exit(signal ? exitCodeOf(signal) : totals.failed > 0 || totals.passed === 0 ? 1 : 0);
