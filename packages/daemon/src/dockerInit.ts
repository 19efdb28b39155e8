import { resolve } from 'node:path';
import type { DesiredContainer } from '@stagi/contract/desiredState.ts';
import type Docker from 'dockerode';
import type { ArchiveEngine } from './dockerArchive.ts';
import { DockerError, noProgram } from './dockerErrors.ts';
import { withTimeout } from './timing.ts';

const TIMEOUT_MS = 15_000;
/** Programs that insist on being the first process of a container. */
const OWN_INITS = ['init', 'systemd', 's6-svscan', 'runit-init'];

/**
 * Tells if Docker puts its init before the program: it passes signals on, and reaps what the program leaves. Not where the
 * engine has none, nor before an init of the image's own. Rejects with status 404 when the image is missing.
 */
export async function getsInit(docker: Docker, { spec, task }: DesiredContainer): Promise<boolean> {
  const [info, image] = await withTimeout(TIMEOUT_MS, 'asking Docker', () =>
    Promise.all([docker.info(), docker.getImage(spec.image).inspect()]),
  );
  // Docker itself tells of a program for another kind of processor.
  if (!hasInit(info) || image.Architecture !== 'amd64') return false;
  if (task) return true;
  const entrypoint = spec.entrypoint ?? listOf(image.Config.Entrypoint);
  const [program = ''] = [...entrypoint, ...(spec.command ?? image.Config.Cmd ?? [])];
  return !OWN_INITS.includes(program.split('/').at(-1)!);
}

const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** An init finds out only as it runs that there is no such program. Throws what Docker says without one. */
export async function requireProgram(docker: Docker, dockerId: string, pathAt: ArchiveEngine['pathAt']): Promise<void> {
  const { Path, Config, HostConfig } = await withTimeout(TIMEOUT_MS, 'inspecting a container', (abortSignal) =>
    docker.getContainer(dockerId).inspect({ abortSignal }),
  );
  if (!HostConfig.Init || Path === '') return;
  const folder = Config.WorkingDir || '/';
  // The last one counts.
  const path = Config.Env?.findLast((line) => line.startsWith('PATH='))?.slice('PATH='.length) ?? DEFAULT_PATH;
  const folders = Path.includes('/') ? [folder] : path.split(':').map((each) => resolve(folder, each));
  for (const each of folders) {
    const { kind, mode } = await pathAt(dockerId, resolve(each, Path));
    if (kind === 'file' && (mode & 0o111) !== 0) return;
  }
  throw new DockerError(noProgram(Path), true);
}

/** Docker asks its init for the version, and writes this when there is none. */
export function hasInit({ InitCommit }: { InitCommit?: { ID?: string } }): boolean {
  return InitCommit !== undefined && InitCommit.ID !== 'N/A';
}

const listOf = (words: string | string[] | null | undefined): string[] =>
  typeof words === 'string' ? [words] : (words ?? []);
