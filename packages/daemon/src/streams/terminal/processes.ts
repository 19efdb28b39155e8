import { readdir, readFile } from 'node:fs/promises';
import { hasErrorCode } from '../../atomicFile.ts';
import { sleep } from '../../timing.ts';

const HANG_UP_MS = 1500;
const GIVE_UP_MS = 8000;
const POLL_MS = 50;

/** The first process of a terminal, so that it is not taken for a later one with its number. */
export interface ProcessMark {
  pid: number;
  /** In clock ticks since boot. */
  startedAt: number;
  /** What stands in the name of the control group of everything that runs in the terminal. */
  cgroup: string;
}

/** Null when there is no such process, or when it is in another control group. */
export async function markOf(pid: number, cgroup: string): Promise<ProcessMark | null> {
  const seen = await statOf(pid);
  return seen && (await isIn(pid, cgroup)) ? { pid, startedAt: seen.startedAt, cgroup } : null;
}

/** The whole description of the control group of a process. */
export async function cgroupOf(pid: number): Promise<string> {
  return readFile(`/proc/${pid}/cgroup`, 'utf8');
}

/** Ends what runs in a terminal: hangs up, then kills. Returns how many processes it found. */
export async function endTerminal(mark: ProcessMark): Promise<number> {
  const first = await processesOf(mark);
  const signal = new AbortController().signal;
  const begunAt = performance.now();
  for (let left = first; left.length > 0; left = await processesOf(mark)) {
    const elapsed = performance.now() - begunAt;
    if (elapsed > GIVE_UP_MS) throw new Error(`processes of a terminal do not end: ${left.join(', ')}`);
    if (left === first) send(left, 'SIGHUP');
    else if (elapsed > HANG_UP_MS) send(left, 'SIGKILL');
    await sleep(POLL_MS, signal);
  }
  return first.length;
}

/**
 * The processes of the session that the first one leads. The system gives its number to no other process while one of
 * them lives.
 */
async function processesOf({ pid, startedAt, cgroup }: ProcessMark): Promise<number[]> {
  const leader = await statOf(pid);
  if (leader && leader.startedAt !== startedAt) return [];
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(
    pids.map(async (each) => {
      const seen = await statOf(each);
      return seen?.session === pid && seen.state !== 'Z' && (await isIn(each, cgroup)) ? each : null;
    }),
  );
  return found.filter((each) => each !== null);
}

async function isIn(pid: number, cgroup: string): Promise<boolean> {
  try {
    return (await cgroupOf(pid)).includes(cgroup);
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT', 'ESRCH')) return false;
    throw error;
  }
}

async function statOf(pid: number): Promise<{ state: string; session: number; startedAt: number } | null> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1');
    // Counted behind the name, which may hold spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0]!, session: Number(fields[3]), startedAt: Number(fields[19]) };
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT', 'ESRCH')) return null;
    throw error;
  }
}

function send(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if (!hasErrorCode(error, 'ESRCH')) throw error;
    }
  }
}
