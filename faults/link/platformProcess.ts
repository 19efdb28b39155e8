import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '@stagi/contract/testing/freePort.ts';

const MAIN = join(import.meta.dirname, '../../packages/server/src/main.ts');
const START_MS = 60_000;

/** The real platform on a folder of its own, as a process that can be killed, stopped and started again. */
export interface PlatformProcess {
  url: string;
  port: number;
  start(): Promise<void>;
  /** Sends a signal and waits for the exit. */
  end(signal: NodeJS.Signals): Promise<void>;
  signal(signal: NodeJS.Signals): void;
  cleanUp(): Promise<void>;
}

/** `daemonPort` is where machines connect: the port of a proxy in between. */
export async function preparePlatform(daemonPort: number): Promise<PlatformProcess> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'stagi-fault-'));
  const url = `http://127.0.0.1:${port}`;
  // Only the checksum of the daemon archive is needed: the daemon of the test runs from its source.
  const archive = 'stagid-linux-x64.tar.gz';
  writeFileSync(join(folder, `${archive}.sha256`), `${'0'.repeat(64)}  ${archive}\n`);
  let child: ChildProcess | null = null;

  const platform: PlatformProcess = {
    url,
    port,
    async start() {
      child = spawn(process.execPath, [MAIN], {
        env: {
          ...process.env,
          PORT: String(port),
          DAEMON_ORIGIN: `http://127.0.0.1:${daemonPort}`,
          METRICS_PORT: 'off',
          S3_PORT: '0',
          GIT_SSH_PORT: '0',
          STAGI_DATA: join(folder, 'data'),
          STAGI_DAEMON_DIR: folder,
          STAGI_ENVIRONMENT: 'test',
          DATABASE_URL: '',
          LOCAL_CLOUD: 'off',
          LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'fatal',
        },
        stdio: ['ignore', 'inherit', 'inherit'],
      });
      const deadline = Date.now() + START_MS;
      while (!(await fetch(`${url}/readyz`).catch(() => null))?.ok) {
        if (child.exitCode !== null) throw new Error(`the platform ended with ${child.exitCode} at its start`);
        if (Date.now() > deadline) throw new Error('the platform did not start in time');
        await pause(50);
      }
    },
    async end(signal) {
      if (!child || child.exitCode !== null || child.signalCode !== null) return;
      const exit = once(child, 'exit');
      child.kill(signal);
      await exit;
    },
    signal: (signal) => void child?.kill(signal),
    async cleanUp() {
      // Started once more, to stop the PostgreSQL that a killed platform left running.
      if (child?.signalCode === 'SIGKILL') await platform.start();
      platform.signal('SIGCONT');
      await platform.end('SIGTERM');
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return platform;
}
