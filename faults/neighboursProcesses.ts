import { readdirSync, readFileSync } from 'node:fs';
import type { Pool } from '@stagi/server/src/db/pool.ts';
import type { Platform } from '@stagi/server/src/testing/platform.ts';
import { sql } from 'kysely';

/** The unit of times in `/proc` (proc(5)); the same on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

/** Nothing of an earlier attack runs on: no statement, and no git process that reads for somebody. */
export async function isQuiet({ platform, pool }: { platform: Platform; pool: Pool }): Promise<boolean> {
  const { rows } = await sql<{ busy: bigint }>`select count(*) as busy from pg_stat_activity
      where state = 'active' and pid <> pg_backend_pid() and backend_type = 'client backend'`.execute(pool.db);
  return rows[0]!.busy === 0n && gitProcessesOf(platform.pid) === 0;
}

/** Those that wait for questions of pages (`cat-file`) are not counted. */
const gitProcessesOf = (parent: number): number =>
  processes().filter((pid) => {
    const [, ppid] = /^\d+ \(.*\) \S (\d+)/.exec(read(`/proc/${pid}/stat`)) ?? [];
    const command = read(`/proc/${pid}/cmdline`);
    return Number(ppid) === parent && command.startsWith('git\0') && !command.includes('cat-file');
  }).length;

/** The time of processors that a process has used so far, in seconds. */
export function cpuSecondsOf(pid: number): number {
  const [user, system] = read(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ').slice(11, 13).map(Number) ?? [];
  return ((user ?? Number.NaN) + (system ?? Number.NaN)) / TICKS_PER_SECOND;
}

/** A search in a tree bomb whose platform has ended would go on for ever. */
export function endOrphans({ dataDir }: Platform): void {
  for (const pid of processes())
    if (
      read(`/proc/${pid}/cmdline`).startsWith('git\0') &&
      read(`/proc/${pid}/environ`).includes(`GIT_DIR=${dataDir}/`)
    )
      process.kill(pid, 'SIGKILL');
}

const processes = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // Its process has ended meanwhile, or is of the system.
    return '';
  }
}
