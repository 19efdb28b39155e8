import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '@stagi/contract/testing/freePort.ts';

const MAIN = join(import.meta.dirname, '../../main.ts');
const START_MS = 60_000;

export interface S3Role {
  url: string;
  pid(): number;
  /** Starts it again at the same address. */
  start(): Promise<void>;
  kill(signal: NodeJS.Signals): Promise<void>;
}

/** A process that only serves S3, on the database and the data of a platform. */
export async function spawnS3Role(
  platform: { databaseUrl: string; dataDir: string },
  env: Record<string, string> = {},
): Promise<S3Role> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  let child: ChildProcess;
  const ended = (): boolean => child.exitCode !== null || child.signalCode !== null;
  async function start(): Promise<void> {
    child = spawn(process.execPath, [MAIN, '--role=s3'], {
      env: {
        ...process.env,
        S3_PORT: String(port),
        METRICS_PORT: 'off',
        DATABASE_URL: platform.databaseUrl,
        STAGI_DATA: platform.dataDir,
        LOCAL_CLOUD: 'off',
        STAGI_ENVIRONMENT: 'test',
        LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'fatal',
        ...env,
      },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    for (const deadline = Date.now() + START_MS; ; await pause(30)) {
      if (ended()) throw new Error(`the S3 service ended at its start`);
      if (Date.now() > deadline) throw new Error('the S3 service did not start in time');
      // Without a signature it refuses, but it answers.
      if (await fetch(url).catch(() => null)) return;
    }
  }
  await start();
  return {
    url,
    pid: () => child.pid!,
    start,
    async kill(signal) {
      if (ended()) return;
      const exit = once(child, 'exit');
      child.kill(signal);
      await exit;
    },
  };
}
