import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { runsIn } from '../db/embeddedProcess.ts';

const LOOK_MS = 50;
const PATIENCE_MS = 90_000;

/** Kills the embedded PostgreSQL of `dataDir` with SIGKILL, and waits until its supervisor has started it again. */
export async function killPostgres(dataDir: string, url: string): Promise<void> {
  const cluster = join(dataDir, 'cluster');
  const pid = Number.parseInt(readFileSync(join(cluster, 'postmaster.pid'), 'utf8'), 10);
  process.kill(pid, 'SIGKILL');
  const deadline = Date.now() + PATIENCE_MS;
  while (runsIn(cluster, pid) || !(await answers(url))) {
    if (Date.now() > deadline) throw new Error(`the killed PostgreSQL was not back within ${PATIENCE_MS / 1000} s`);
    await pause(LOOK_MS);
  }
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } catch {
    // It does not yet.
    return false;
  } finally {
    await client.end();
  }
}
