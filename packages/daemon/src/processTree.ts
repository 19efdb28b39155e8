import { readdir, readFile, readlink } from 'node:fs/promises';
import { hasErrorCode } from './atomicFile.ts';

/** A process of a container, as the system of this machine shows it. */
export interface Process {
  pid: number;
  parent: number;
  /** `Z`: it has ended. */
  state: string;
  /** In clock ticks since boot: tells it from a later one with its number. */
  startedAt: number;
  /** The name of its program's file; of a script, that of its shell. */
  name: string;
  /** It has a handler for this signal, or keeps it waiting to look at it later. */
  catches(signal: number): boolean;
  ignores(signal: number): boolean;
}

/** The first process of a container and everything below it. Null: the container cannot be seen from here. */
export async function findProcesses(first: number, dockerId: string): Promise<Process[] | null> {
  const top = await statOf(first);
  if (!top) return [];
  if (!(await isIn(first, dockerId))) return null;
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const stats = (await Promise.all(pids.map(statOf))).filter((stat) => stat !== null);
  const childrenOf = Map.groupBy(stats, ({ parent }) => parent);
  const below = (stat: Stat): Stat[] => [stat, ...(childrenOf.get(stat.pid) ?? []).flatMap(below)];
  const processes = await Promise.all(below(top).map(withDispositions));
  return processes.filter((process) => process !== null);
}

/** Returns whether the process was still there, in its container. */
export async function sendSignal(process_: Process, dockerId: string, signal: NodeJS.Signals): Promise<boolean> {
  const { pid, startedAt } = process_;
  const now = await statOf(pid);
  if (now?.startedAt !== startedAt || !(await isIn(pid, dockerId))) return false;
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if (hasErrorCode(error, 'ESRCH')) return false;
    throw error;
  }
}

/** Tells if one of its threads waits for signals by rt_sigtimedwait(2), which is in no mask. True where nothing tells. */
export async function isWaitingForSignals(pid: number): Promise<boolean> {
  const threads = await readdir(`/proc/${pid}/task`).catch((error: unknown) => {
    if (hasErrorCode(error, ...GONE)) return [];
    throw error;
  });
  const calls = await Promise.all(threads.map((thread) => readProc(pid, `task/${thread}/syscall`)));
  return calls.some((call) => call === null || call.startsWith(RT_SIGTIMEDWAIT));
}

/** After the path of a program whose file was replaced since. */
const DELETED = ' (deleted)';
const GONE = ['ENOENT', 'ESRCH', 'EPERM', 'EACCES'];
const RT_SIGTIMEDWAIT = '128 ';

type Stat = Pick<Process, 'pid' | 'parent' | 'state' | 'startedAt' | 'name'>;

async function statOf(pid: number): Promise<Stat | null> {
  const stat = await readProc(pid, 'stat');
  if (stat === null) return null;
  // The name may hold spaces and parentheses.
  const [begin, end] = [stat.indexOf('('), stat.lastIndexOf(')')];
  const fields = stat.slice(end + 2).split(' ');
  return {
    pid,
    name: stat.slice(begin + 1, end),
    state: fields[0]!,
    parent: Number(fields[1]),
    startedAt: Number(fields[19]),
  };
}

/** `SigCgt` and `SigIgn` are masks: the lowest bit is signal 1. */
async function withDispositions(stat: Stat): Promise<Process | null> {
  const [status, name] = await Promise.all([readProc(stat.pid, 'status'), programOf(stat.pid)]);
  if (status === null) return null;
  const lines = new Map(status.split('\n').map((line) => line.split(':\t', 2) as [string, string | undefined]));
  const mask = (line: string) => BigInt(`0x${lines.get(line) ?? '0'}`);
  const [caught, ignored] = [mask('SigCgt') | mask('SigBlk'), mask('SigIgn')];
  const has = (of: bigint, signal: number) => ((of >> BigInt(signal - 1)) & 1n) === 1n;
  return {
    ...stat,
    name: name ?? stat.name,
    catches: (signal) => has(caught, signal),
    ignores: (signal) => has(ignored, signal),
  };
}

/** Null: there is no such process, or it is one of the system itself. */
async function programOf(pid: number): Promise<string | null> {
  const file = await readlink(`/proc/${pid}/exe`).catch((error: unknown) => {
    if (hasErrorCode(error, ...GONE)) return null;
    throw error;
  });
  const path = file?.endsWith(DELETED) ? file.slice(0, -DELETED.length) : file;
  return path?.split('/').at(-1) ?? null;
}

async function isIn(pid: number, cgroup: string): Promise<boolean> {
  return (await readProc(pid, 'cgroup'))?.includes(cgroup) ?? false;
}

/** Null: there is no such process. */
async function readProc(pid: number, file: string): Promise<string | null> {
  try {
    return await readFile(`/proc/${pid}/${file}`, 'latin1');
  } catch (error) {
    if (hasErrorCode(error, ...GONE)) return null;
    throw error;
  }
}
