import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '@stagi/contract/testing/freePort.ts';
import { runsIn } from '../db/embeddedProcess.ts';

const MAIN = join(import.meta.dirname, '../main.ts');
const START_MS = 60_000;
/** As `npm start` sets it. */
const LARGE_PAGES = 'glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=33554432';

/** The platform as its own process, as an operator runs it. */
export interface Platform {
  url: string;
  metricsUrl: string;
  s3Url: string;
  gitSshPort: number;
  dataDir: string;
  pid: number;
  /** What it wrote so far. */
  log(): string;
  /** The exit code, or the signal that ended it; null while it runs. */
  ended(): number | NodeJS.Signals | null;
  /** Sends a signal and answers how it ended. */
  stop(signal?: NodeJS.Signals): Promise<number | NodeJS.Signals | null>;
  /** Starts it again at the same address, on the same data; resolves when it is ready. */
  start(): Promise<void>;
  /** Kills what still runs and removes its data. */
  remove(): Promise<void>;
}

/** Starts the platform on free ports and fresh data, and waits until it is ready. `stdout` is a file to log to. */
export async function spawnPlatform(
  env: Record<string, string> = {},
  { stdout = 'pipe' }: { stdout?: number | 'pipe' } = {},
): Promise<Platform> {
  const folder = mkdtempSync(join(tmpdir(), 'stagi-platform-'));
  const dataDir = env.STAGI_DATA ?? join(folder, 'data');
  const [port, metricsPort, s3Port, gitSshPort] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  const url = `http://127.0.0.1:${port}`;
  let log = '';
  let child = launch();

  function launch() {
    const launched = spawn(process.execPath, [MAIN], {
      env: {
        GLIBC_TUNABLES: LARGE_PAGES,
        ...process.env,
        PORT: String(port),
        METRICS_PORT: String(metricsPort),
        S3_PORT: String(s3Port),
        GIT_SSH_PORT: String(gitSshPort),
        DATABASE_URL: '',
        STAGI_DATA: dataDir,
        LOCAL_CLOUD: 'off',
        STAGI_ENVIRONMENT: 'test',
        ...env,
      },
      stdio: ['ignore', stdout, 'pipe'],
    });
    for (const out of [launched.stdout, launched.stderr]) {
      out?.setEncoding('utf8').on('data', (text: string) => {
        log += text;
      });
    }
    return launched;
  }

  const ended = () => child.exitCode ?? child.signalCode;
  async function ready(): Promise<void> {
    for (const deadline = Date.now() + START_MS; ; await pause(50)) {
      if (ended() !== null) throw new Error(`the platform ended with ${ended()} at its start: ${log.slice(-2_000)}`);
      if (Date.now() > deadline) throw new Error('the platform did not start in time');
      if (await isReady(url)) return;
    }
  }

  const platform: Platform = {
    url,
    metricsUrl: `http://127.0.0.1:${metricsPort}/metrics`,
    s3Url: `http://127.0.0.1:${s3Port}`,
    gitSshPort,
    dataDir,
    get pid() {
      return child.pid!;
    },
    log: () => log,
    ended,
    async stop(signal = 'SIGTERM') {
      if (ended() === null) {
        const closed = once(child, 'close');
        child.kill(signal);
        await closed;
      }
      return ended();
    },
    async start() {
      child = launch();
      await ready();
    },
    async remove() {
      // A graceful shutdown also ends its database; a killed platform leaves it running.
      await platform.stop('SIGTERM');
      await endPostgres(join(dataDir, 'postgres/cluster'));
      rmSync(folder, { recursive: true, force: true });
    },
  };
  try {
    await ready();
  } catch (error) {
    await platform.remove();
    throw error;
  }
  return platform;
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/readyz`)).ok;
  } catch {
    // It does not listen yet.
    return false;
  }
}

async function endPostgres(cluster: string): Promise<void> {
  const lock = join(cluster, 'postmaster.pid');
  if (!existsSync(lock)) return;
  const pid = Number.parseInt(readFileSync(lock, 'utf8'), 10);
  if (!runsIn(cluster, pid)) return;
  process.kill(pid, 'SIGQUIT');
  while (runsIn(cluster, pid)) await pause(20);
}
