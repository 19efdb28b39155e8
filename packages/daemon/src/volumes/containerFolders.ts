import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { DesiredContainer } from '@stagi/contract/desiredState.ts';
import type { HostConfig } from '@stagi/contract/hostConfig.ts';
import type { Owner } from '../containerSpec.ts';
import { bindFolders, namesIn, releaseFolders } from './bindFolders.ts';

type Target = Pick<DesiredContainer, 'id' | 'spec'>;

/** The folders of ours that the directories of containers are bound to (`bindFolders.ts`), which Docker mounts. */
export interface ContainerFolders {
  /** Before each start, also of a running container. Returns its rights, with these folders in them. */
  bind(target: Target, hostConfig: HostConfig): Promise<HostConfig>;
  /** They were bound since the server booted, and are not removed. */
  areBound(containerId: number): Promise<boolean>;
  release(containerId: number): Promise<void>;
  /** Lets go of folders whose containers were removed while no agent ran. */
  releaseExcept(containerIds: ReadonlySet<number>): Promise<void>;
}

export function containerFolders(volumes: string, { platform, node }: Owner): ContainerFolders {
  // Two platforms may have containers of the same number.
  const root = join(volumes, `${platform}-${node}`);
  const folderOf = (id: number | string) => join(root, String(id));
  return {
    async bind({ id, spec }, hostConfig) {
      const targets = spec.directories.map((_, index) => join(folderOf(id), String(index)));
      try {
        await bindFolders(spec.directories.map(({ host }, index) => ({ host, target: targets[index]! })));
      } catch (error) {
        // Half of them would count as bound.
        await releaseFolders(folderOf(id));
        throw error;
      }
      const Mounts = hostConfig.Mounts.map((mount, index) => ({ ...mount, Source: targets[index]! }));
      return { ...hostConfig, Mounts };
    },
    async areBound(id) {
      const names = await namesIn(folderOf(id));
      const bound = await Promise.all(names.map((name) => isAlive(join(folderOf(id), name))));
      return bound.length > 0 && bound.every((isBound) => isBound);
    },
    release: (id) => releaseFolders(folderOf(id)),
    async releaseExcept(ids) {
      for (const name of await namesIn(root)) if (!ids.has(Number(name))) await releaseFolders(folderOf(name));
    },
  };
}

/** A directory that was removed has no link left; one of a disk that is gone answers with an error. */
async function isAlive(folder: string): Promise<boolean> {
  return stat(folder).then(
    ({ nlink }) => nlink > 0,
    () => false,
  );
}
