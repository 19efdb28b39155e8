import { runChecks } from './checks.ts';
import { exitCodeOf, listenForStop, stopSignal } from './run.ts';

listenForStop();
const results = await runChecks();
const signal = stopSignal();
process.exit(signal ? exitCodeOf(signal) : results.some(({ failed }) => failed) ? 1 : 0);
