import { provideDocker } from './docker.ts';
import { provideTestPrograms } from './packages.ts';
import { exitCodeOf, listenForStop, stopSignal } from './run.ts';
import { runEach } from './suites.ts';

listenForStop();
provideTestPrograms();
const docker = await provideDocker();
if (!docker.available) console.log(docker.reason);
const code = await runEach('faults', 'fault', process.argv.slice(2));
if (docker.available) await docker.stop();
const signal = stopSignal();
process.exit(signal ? exitCodeOf(signal) : code);
