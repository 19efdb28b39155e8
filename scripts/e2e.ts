import { provideDocker } from './docker.ts';
import { provideTestPrograms } from './packages.ts';
import { exitCodeOf, listenForStop, stopSignal } from './run.ts';
import { buildForStories, runBrowserTests, totalLine } from './suites.ts';

listenForStop();
provideTestPrograms();
const docker = await provideDocker();
try {
  await buildForStories();
  const totals = await runBrowserTests(process.argv.slice(2), docker.available ? undefined : docker.reason);
  console.log(totalLine(totals));
  process.exitCode = totals.failed > 0 || totals.passed === 0 ? 1 : 0;
} finally {
  if (docker.available) await docker.stop();
}
const signal = stopSignal();
process.exit(signal ? exitCodeOf(signal) : process.exitCode);
