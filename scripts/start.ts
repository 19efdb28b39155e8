import { type StdioOptions, spawn } from 'node:child_process';
import { join } from 'node:path';
import { failStart, main, readProcessConfig } from '../packages/server/src/main.ts';
import { exitCodeOf, listenForStop, ROOT, stopSignal } from './run.ts';
import { terminalReporter } from './terminal.ts';
import { buildWeb, webDone } from './web.ts';

// Until the server listens to signals itself, what was started so far is ended from here.
const leaveSignalsToServer = listenForStop();
try {
  let config = readProcessConfig();
  const reporter = config.logFormat === 'text' ? terminalReporter : undefined;
  if (!process.env.STAGI_WEB_DIR) {
    const { folder } = await (reporter ? reporter.step('Building the web app', webDone, buildWeb) : buildWeb());
    // The build by its own name: a later one takes its place in `packages/web/dist` while this server runs.
    config = { ...config, webDir: folder };
  }
  // The server comes up meanwhile and offers the daemon when it is there.
  if (!process.env.STAGI_DAEMON_DIR) buildDaemonInBackground(reporter !== undefined);
  const running = stopSignal() ? undefined : await main(config, reporter);
  if (stopSignal()) await running?.stop();
} catch (error) {
  if (!stopSignal()) failStart(error);
}
const signal = stopSignal();
if (signal) {
  if (process.stdout.isTTY) console.log('Stopped before it was up.');
  process.exit(exitCodeOf(signal));
}
leaveSignalsToServer();
// The bootstrap was killed: end as if asked to, or the server would stay behind unseen.
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
process.channel?.unref();

/** In a process group of its own, to end with everything it has started. */
function buildDaemonInBackground(isTerminal: boolean) {
  const script = join(ROOT, 'scripts/daemon.ts');
  const stdio: StdioOptions = ['ignore', isTerminal ? 'inherit' : 'ignore', 'inherit'];
  const builder = spawn(process.execPath, [script], { cwd: ROOT, stdio, detached: true });
  let isDone = false;
  builder.once('exit', () => {
    isDone = true;
  });
  process.once('exit', () => {
    if (!isDone && builder.pid) process.kill(-builder.pid);
  });
}
