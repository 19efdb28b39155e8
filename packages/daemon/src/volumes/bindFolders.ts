import { execFile } from 'node:child_process';
import { mkdir, readdir, readlink, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isSea } from 'node:sea';
import { promisify } from 'node:util';
import { text } from '@stagi/contract/text.ts';
import { z } from 'zod';
import { hasErrorCode, readFileIfExists } from '../atomicFile.ts';
import { PolicyError } from '../policyError.ts';
import { openHostFolder } from './hostFolder.ts';
import { closing, contentPath, type Folder } from './openBeneath.ts';

/*
 * Docker opens what it mounts by its path, long after the agent has checked it, and again whenever it starts the
 * container by itself. So each directory is opened once, without following links, and what was opened is bound to a
 * folder that only root can change. That folder is named to Docker. It lies in memory: after a boot of the server it is
 * not there, and Docker cannot start the container until the agent has opened its directories anew.
 */
const execute = promisify(execFile);
const TIMEOUT_MS = 30_000;
const DOCKER_PID = '/run/docker.pid';
/** The verb `bind` ends with it, and prints what the policy says. */
export const EXIT_REFUSED = 77;
/** Bound one over the other, by agents that were killed in between. */
const STACKED_MAX = 10;

export const FolderBinding = z.object({ host: z.string(), target: z.string() });
export type FolderBinding = z.infer<typeof FolderBinding>;

/** Idempotent: what is bound already stays. Throws PolicyError when a path leads through a link. */
export async function bindFolders(bindings: readonly FolderBinding[]): Promise<void> {
  if (bindings.length === 0) return;
  if (await isBesideDocker()) return bindHere(bindings);
  const [program, ...args] = ownCommand();
  try {
    await besideDocker(program!, [...args, 'bind', JSON.stringify(bindings)]);
  } catch (error) {
    const { code, stdout } = error as { code?: unknown; stdout?: string };
    throw code === EXIT_REFUSED ? new PolicyError(String(stdout).trim()) : error;
  }
}

/** As `bindFolders`, in the mount namespace of Docker: an open folder of another one cannot be bound. */
export async function bindHere(bindings: readonly FolderBinding[]): Promise<void> {
  for (const { host, target } of bindings) {
    const folder = await openHostFolder(host);
    await closing(folder, () => bind(folder, target));
  }
}

/** Ends all bindings in a folder of ours, and removes it. What was bound stays as it is. */
export async function releaseFolders(folder: string): Promise<void> {
  for (const name of await namesIn(folder)) {
    await unbind(join(folder, name));
    // Never with what is in it: if it is still bound, that is the directory of a person.
    await rmdir(join(folder, name));
  }
  await rmdir(folder).catch((error: unknown) => {
    if (!hasErrorCode(error, 'ENOENT')) throw error;
  });
}

export async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: unknown) => {
    if (hasErrorCode(error, 'ENOENT')) return [];
    throw error;
  });
}

/** Mounts in the directory come along, as with Docker. `rslave`: to let go of it here leaves it there. */
async function bind(folder: Folder, target: string): Promise<void> {
  await mkdir(target, { recursive: true, mode: 0o700 });
  if (await shows(target, folder)) return;
  await unbind(target);
  // The path leads to what is open, unless the program resolves it first: hence the option.
  const source = contentPath(folder).replace('/self/', `/${process.pid}/`);
  await besideDocker('mount', ['--no-canonicalize', '--rbind', '--make-rslave', source, target]);
  if (await shows(target, folder)) return;
  await unbind(target);
  throw new Error(text('A directory of the server could not be handed to Docker'));
}

/** As Docker sees it. Something else may be mounted over what is open. */
async function shows(target: string, { handle }: Folder): Promise<boolean> {
  const { process } = await dockersView();
  const seen = await stat(join(process, 'root', target), { bigint: true });
  const open = await handle.stat({ bigint: true });
  return seen.dev === open.dev && seen.ino === open.ino;
}

async function unbind(target: string): Promise<void> {
  for (let left = STACKED_MAX; left > 0; left--) {
    const isBound = await besideDocker('mount', ['--no-canonicalize', '--make-rslave', target]).then(
      () => true,
      () => false,
    );
    if (!isBound) return;
    await besideDocker('umount', ['--no-canonicalize', '--lazy', target]);
  }
}

/** With systemd the agent has a mount namespace of its own, of which Docker sees nothing. */
async function isBesideDocker(): Promise<boolean> {
  const { namespace } = await dockersView();
  return namespace === (await readlink('/proc/self/ns/mnt'));
}

/** Runs a program in the mount namespace of Docker. */
async function besideDocker(program: string, args: readonly string[]): Promise<void> {
  const { process: root } = await dockersView();
  const entrance = (await isBesideDocker()) ? [] : ['nsenter', `--mount=${root}/ns/mnt`, '--'];
  const [first, ...rest] = [...entrance, program, ...args];
  // Our executable finds its library there.
  const library = isSea() ? { LD_LIBRARY_PATH: dirname(process.execPath) } : {};
  await execute(first!, rest, { timeout: TIMEOUT_MS, env: { ...process.env, ...library } });
}

/**
 * A process that sees what Docker mounts: the first one, as containers are made by a service of the system; where it may
 * not be looked at, Docker itself.
 */
async function dockersView(): Promise<{ process: string; namespace: string }> {
  const pid = (await readFileIfExists(DOCKER_PID))?.trim();
  for (const process of ['/proc/1', ...(pid ? [`/proc/${pid}`] : [])]) {
    const namespace = await readlink(`${process}/ns/mnt`).catch((error: unknown) => {
      if (hasErrorCode(error, 'EACCES', 'ENOENT')) return null;
      throw error;
    });
    if (namespace !== null) return { process, namespace };
  }
  throw new Error('the mount namespace of Docker cannot be seen');
}

function ownCommand(): string[] {
  return isSea() ? [process.execPath] : [process.execPath, ...process.execArgv, process.argv[1]!];
}
