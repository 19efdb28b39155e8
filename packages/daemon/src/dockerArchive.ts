import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type Docker from 'dockerode';
import { z } from 'zod';
import { statusOf, toDockerError } from './dockerErrors.ts';
import { errorText } from './log.ts';
import { withTimeout } from './timing.ts';

const STAT_TIMEOUT_MS = 15_000;

/** Files of containers that do not run, through Docker's archive API. */
export interface ArchiveEngine {
  /** What a path of the container leads to, a symbolic link followed. */
  pathAt(dockerId: string, path: string): Promise<ContainerPath>;
  /**
   * Extracts a tar archive into an existing directory. Directories on the way to an entry are made when absent. A file
   * never takes the place of a directory, nor the reverse.
   */
  putArchive(dockerId: string, path: string, tar: Readable, signal: AbortSignal): Promise<void>;
  /** Has `read` take the tar archive of a path. Returns false when nothing is there. */
  readArchive(
    dockerId: string,
    path: string,
    read: (tar: Readable) => Promise<void>,
    signal: AbortSignal,
  ): Promise<boolean>;
}

export interface ContainerPath {
  /** Where it leads to. */
  path: string;
  kind: 'directory' | 'file' | 'absent';
  /** Permissions, with the sticky bit. */
  mode: number;
}

/** `mode` is Go's `fs.FileMode`; `linkTarget` is the end of a chain of links, as seen in the container. */
const PathStat = z.object({ mode: z.number(), linkTarget: z.string() });
type PathStat = z.infer<typeof PathStat>;
const GO_DIRECTORY = 2 ** 31;
const GO_STICKY = 2 ** 20;

/** `hold` runs calls that have Docker lock the container. */
export function archiveEngine(
  docker: Docker,
  hold: <R>(dockerId: string, work: () => Promise<R>) => Promise<R>,
): ArchiveEngine {
  /** Null also when a file is on the way: Docker's answer does not say why it failed. */
  async function stat(dockerId: string, path: string): Promise<PathStat | null> {
    try {
      const answer: IncomingMessage = await withTimeout(STAT_TIMEOUT_MS, 'looking into the container', (abortSignal) =>
        docker.getContainer(dockerId).infoArchive({ path, abortSignal }),
      );
      answer.resume();
      const head = String(answer.headers['x-docker-container-path-stat']);
      return PathStat.parse(JSON.parse(Buffer.from(head, 'base64').toString()));
    } catch (error) {
      if (statusOf(error) === 404 || statusOf(error) === 500) return null;
      throw toDockerError(error, '');
    }
  }
  return {
    async pathAt(dockerId, path) {
      const first = await stat(dockerId, path);
      const isLink = first !== null && first.linkTarget !== '';
      const at = isLink ? first.linkTarget : path;
      const found = isLink ? await stat(dockerId, at) : first;
      if (!found) return { path: at, kind: 'absent', mode: 0 };
      const sticky = Math.floor(found.mode / GO_STICKY) % 2 === 1 ? 0o1000 : 0;
      const kind = found.mode >= GO_DIRECTORY ? 'directory' : 'file';
      return { path: at, kind, mode: (found.mode % 0o1000) + sticky };
    },

    putArchive: (dockerId, path, tar, abortSignal) =>
      hold(dockerId, async () => {
        try {
          await docker.getContainer(dockerId).putArchive(tar, { path, noOverwriteDirNonDir: '1', abortSignal });
        } catch (error) {
          abortSignal.throwIfAborted();
          throw toDockerError(error, '');
        }
      }),

    readArchive: (dockerId, path, read, abortSignal) =>
      hold(dockerId, async () => {
        const tar = await open(docker, dockerId, path, abortSignal);
        if (!tar) return false;
        try {
          await read(tar);
          return true;
        } finally {
          tar.destroy();
        }
      }),
  };
}

async function open(
  docker: Docker,
  dockerId: string,
  path: string,
  abortSignal: AbortSignal,
): Promise<Readable | null> {
  try {
    return (await docker.getContainer(dockerId).getArchive({ path, abortSignal })) as Readable;
  } catch (error) {
    abortSignal.throwIfAborted();
    // The container itself may be gone too: that is an error.
    if (statusOf(error) === 404 && !/no such container:/i.test(errorText(error))) return null;
    throw toDockerError(error, '');
  }
}
