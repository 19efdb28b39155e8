import { execFile } from 'node:child_process';
import { readFile, statfs } from 'node:fs/promises';
import os from 'node:os';
import { promisify } from 'node:util';
import { hasErrorCode, readFileIfExists } from './atomicFile.ts';
import { cpuLimit } from './usage/controlGroup.ts';

const run = promisify(execFile);
/** The unit of times in `/proc`, on every processor. */
const MS_PER_TICK = 10;

/** The id and the name of the operating system, from `/etc/os-release`. */
export async function readOs(): Promise<{ id: string; name: string }> {
  const text = (await readFileIfExists('/etc/os-release')) ?? '';
  const values = parseOsRelease(text);
  return { id: values.get('ID') ?? 'unknown', name: values.get('PRETTY_NAME') ?? 'Linux' };
}

export function parseOsRelease(text: string): Map<string, string> {
  const pairs = text.split('\n').map((line) => /^([A-Z_]+)=(?:"(.*)"|'(.*)'|(.*))$/.exec(line.trim()));
  return new Map(pairs.flatMap((match) => (match ? [[match[1]!, match[2] ?? match[3] ?? match[4] ?? '']] : [])));
}

export async function cpuName(): Promise<string> {
  const text = await readFile('/proc/cpuinfo', 'utf8');
  return /^model name\s*:\s*(.+)$/m.exec(text)?.[1] ?? os.cpus()[0]?.model ?? 'unknown';
}

/** The CPUs of this machine, or the limit of its control group, in tenths. */
export async function cpuCount(): Promise<number> {
  const limit = await cpuLimit();
  const all = os.availableParallelism();
  return limit === null ? all : Math.min(all, Math.max(0.1, Math.floor(limit * 10) / 10));
}

/** The memory of this machine, or the limit of its control group. */
export function memoryBytes(): number {
  const limit = process.constrainedMemory();
  return limit > 0 && limit < os.totalmem() ? limit : os.totalmem();
}

export async function diskSpace(path: string): Promise<{ total: number; free: number }> {
  const { blocks, bavail, bsize } = await statfs(path);
  return { total: blocks * bsize, free: bavail * bsize };
}

/** Differs after every boot, also for a container, which shares its kernel with others. */
export async function bootId(): Promise<string> {
  const kernel = (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
  return `${kernel}-${await firstProcessTicks()}`;
}

/** By the clock of now, which drifts: asked once. */
export async function bootedAt(): Promise<string> {
  const kernel = Number(/^btime (\d+)$/m.exec(await readFile('/proc/stat', 'latin1'))?.[1]) * 1000;
  const own = kernel + Number(await firstProcessTicks()) * MS_PER_TICK;
  // A system container may be shown its own start as the kernel's, while its first process counts from the machine's.
  return new Date(own > Date.now() ? kernel : own).toISOString();
}

/** From the start of the kernel to that of the first process (proc(5), `starttime`). */
async function firstProcessTicks(): Promise<string> {
  const firstProcess = await readFile('/proc/1/stat', 'latin1');
  // Field 22, counted behind the name, which may hold spaces and parentheses.
  return firstProcess.slice(firstProcess.lastIndexOf(')') + 2).split(' ')[19]!;
}

/** Whether a program is installed and runs, asked with `git --version` or the like. */
export async function canRun(program: string, ...args: string[]): Promise<boolean> {
  try {
    await run(program, args, { timeout: 10_000 });
    return true;
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT', 'EACCES')) return false;
    throw error;
  }
}
