import { execFile } from 'node:child_process';
import { readFile, statfs } from 'node:fs/promises';
import os from 'node:os';
import { promisify } from 'node:util';
import { isCode, readIfThere } from './durable.ts';

const run = promisify(execFile);

/** The system's name and kind as `/etc/os-release` gives them. */
export async function readOs(): Promise<{ id: string; name: string }> {
  const text = (await readIfThere('/etc/os-release')) ?? '';
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

/** What this machine may use: a limit of its own control group counts where there is one. */
export function memoryBytes(): number {
  const limit = process.constrainedMemory();
  return limit > 0 && limit < os.totalmem() ? limit : os.totalmem();
}

export async function diskSpace(path: string): Promise<{ total: number; free: number }> {
  const { blocks, bavail, bsize } = await statfs(path);
  return { total: blocks * bsize, free: bavail * bsize };
}

/** Another one after every boot, also of a machine that shares its kernel with others. */
export async function bootId(): Promise<string> {
  const kernel = (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
  const firstProcess = await readFile('/proc/1/stat', 'latin1');
  // Field 22, counted behind the name, which may hold spaces and parentheses.
  const startedAt = firstProcess.slice(firstProcess.lastIndexOf(')') + 2).split(' ')[19];
  return `${kernel}-${startedAt}`;
}

/** `git --version` and the like: whether a program is there and runs. */
export async function answers(program: string, ...args: string[]): Promise<boolean> {
  try {
    await run(program, args, { timeout: 10_000 });
    return true;
  } catch (error) {
    if (isCode(error, 'ENOENT', 'EACCES')) return false;
    throw error;
  }
}
