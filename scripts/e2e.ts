import { provideDocker } from './docker.ts';
import { provideTestPrograms } from './packages.ts';
import { failuresOf, passedIn, totalLine } from './results.ts';
import { exitCodeOf, listenForStop, stopSignal } from './run.ts';
import { buildForStories, runStories } from './suites.ts';

listenForStop();
provideTestPrograms();
const docker = await provideDocker();
try {
  await buildForStories();
  const withoutDocker = docker.available ? undefined : docker.reason;
  const results = await runStories({ withoutDocker, paths: process.argv.slice(2) });
  console.log(totalLine(results));
  process.exitCode = failuresOf(results).length > 0 || passedIn(results) === 0 ? 1 : 0;
} finally {
  if (docker.available) await docker.stop();
}
const signal = stopSignal();
process.exit(signal ? exitCodeOf(signal) : process.exitCode);
