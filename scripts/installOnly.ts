import { buildDaemonOnce } from './daemonBuild.ts';
import { exitCodeOf, listenForStop, stopSignal } from './run.ts';
import { terminalStep } from './terminal.ts';
import { buildWeb, webDone } from './web.ts';

// All that `npm start` makes before it serves; the bootstrap has installed the packages.
listenForStop();
try {
  await terminalStep('Building the web app', webDone, buildWeb);
  if (!stopSignal()) await terminalStep('Building the daemon', daemonDone, buildDaemonOnce);
} catch (error) {
  if (!stopSignal()) {
    console.error(`Stagi is not installed. ${(error as Error).message}`);
    process.exit(1);
  }
}
const signal = stopSignal();
if (signal) process.exit(exitCodeOf(signal));

function daemonDone(built: Awaited<ReturnType<typeof buildDaemonOnce>>): string {
  return built ? `Daemon built: ${(built.archiveBytes / 1e6).toFixed(1)} MB to download` : 'Daemon up to date';
}
