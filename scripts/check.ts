import { runChecks } from './checks.ts';
import { exitCodeOf, listenForStop, stopSignal } from './run.ts';

listenForStop();
const failed = await runChecks();
const signal = stopSignal();
process.exit(signal ? exitCodeOf(signal) : failed > 0 ? 1 : 0);
