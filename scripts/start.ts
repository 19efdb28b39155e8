import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { explain, main } from '../packages/server/src/main.ts';
import { exitCodeOf, listenForStop, ROOT, stopSignal } from './run.ts';
import { buildWeb } from './web.ts';

// Until the server listens to signals itself, what was started so far is ended from here.
const leaveSignalsToServer = listenForStop();
try {
  await buildWeb();
  // The server comes up meanwhile and offers the daemon when it is there.
  buildDaemonMeanwhile();
  const running = stopSignal() ? undefined : await main();
  if (stopSignal()) await running?.stop();
} catch (error) {
  if (!stopSignal()) console.error(`Stagi cannot start. ${explain(error)}`);
  process.exit(1);
}
const signal = stopSignal();
if (signal) process.exit(exitCodeOf(signal));
leaveSignalsToServer();
// The bootstrap was killed: end as if asked to, or the server would stay behind unseen.
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
process.channel?.unref();

/** In a process group of its own, to end with everything it has started. */
function buildDaemonMeanwhile() {
  const script = join(ROOT, 'scripts/daemon.ts');
  const builder = spawn(process.execPath, [script], { cwd: ROOT, stdio: 'inherit', detached: true });
  let isDone = false;
  builder.once('exit', () => {
    isDone = true;
  });
  process.once('exit', () => {
    if (!isDone && builder.pid) process.kill(-builder.pid);
  });
}
