import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@stagi/contract/testing/freePort.ts';
import { createTestDatabase } from '@stagi/server/src/testing/database.ts';
import { STORY_APP } from './registeredApp.ts';
import { until } from './waitUntil.ts';

const ROOT = join(import.meta.dirname, '..');

/** For `startPlatform`. */
export const EMBEDDED = { DATABASE_URL: '' };

/** The platform as `npm start` runs it, in a process, a data directory and a database of its own. */
export interface Platform {
  url: string;
  port: number;
  pid: number;
  environment: string;
  stop(): Promise<void>;
}

/**
 * `EMBEDDED` brings a PostgreSQL of its own along, as it does for everybody; else its database is one of the stories'
 * common server: making a server and its tables costs more than most stories.
 */
export async function startPlatform(environment: string, env: Record<string, string> = {}): Promise<Platform> {
  const database = env.DATABASE_URL === undefined ? await createTestDatabase() : null;
  const dataDir = mkdtempSync(join(tmpdir(), `stagi-${environment}-`));
  const [port, s3Port, gitSshPort] = [await freePort(), await freePort(), await freePort()];
  mkdirSync(join(ROOT, 'test-results'), { recursive: true });
  const log = createWriteStream(join(ROOT, 'test-results', `platform-${environment}.log`));
  const child = spawn(process.execPath, [join(ROOT, 'packages/server/src/main.ts')], {
    cwd: ROOT,
    env: {
      ...process.env,
      PORT: String(port),
      METRICS_PORT: 'off',
      S3_PORT: String(s3Port),
      GIT_SSH_PORT: String(gitSshPort),
      STAGI_DATA: dataDir,
      STAGI_ENVIRONMENT: environment,
      DATABASE_URL: database?.url,
      OAUTH_APPS: JSON.stringify([STORY_APP]),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout?.pipe(log, { end: false });
  child.stderr?.pipe(log, { end: false });
  const url = `http://localhost:${port}`;
  try {
    await until(`the platform answers on ${url}`, 60_000, async () => {
      if (child.exitCode !== null)
        throw new Error(`the platform ended with ${child.exitCode}: see test-results/platform-${environment}.log`);
      const reply = await fetch(`${url}/readyz`).catch(() => null);
      return reply?.ok ?? false;
    });
  } catch (error) {
    // Nobody has it to stop it, and it would stay in the way of the next of its environment.
    await end(child);
    throw error;
  }
  return {
    url,
    port,
    pid: child.pid ?? 0,
    environment,
    async stop() {
      await end(child);
      await database?.drop();
      log.end();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 20_000);
  await exit;
  clearTimeout(timer);
}
