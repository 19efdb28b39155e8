import type { Inventory } from '@stagi/contract/daemon.ts';
import type Docker from 'dockerode';
import { statusOf, toDockerError } from './dockerErrors.ts';
import { withTimeout } from './timing.ts';

const QUERY_TIMEOUT_MS = 15_000;
const REMOVE_TIMEOUT_MS = 180_000;
const MAX_IMAGES = 500;
const INSPECTED_AT_ONCE = 8;

/** An image with what its removal depends on. */
export interface ImageDetail {
  id: string;
  /** `name:tag`, or `name@digest` where it has no tag any more; empty: nothing names it. */
  references: string[];
  /** Names of the containers that are made of it, of anybody. */
  containers: string[];
  /** From the bottom up. `chain` names a layer together with those below it: equal ones are stored once. */
  layers: { chain: string; bytes: number }[];
}

export interface ImageEngine {
  /** The newest first. */
  images(): Promise<Inventory['images']>;
  imageDetails(): Promise<ImageDetail[]>;
  /** Takes a reference away, and the image with its last one. Succeeds when there is none; never forces. */
  removeImage(reference: string): Promise<void>;
}

export function imageEngine(docker: Docker): ImageEngine {
  const listed = () =>
    withTimeout(QUERY_TIMEOUT_MS, 'listing images', (abortSignal) => docker.listImages({ abortSignal }));

  async function layersOf(id: string): Promise<ImageDetail['layers']> {
    const image = docker.getImage(id);
    const { RootFS } = await withTimeout(QUERY_TIMEOUT_MS, 'inspecting an image', () => image.inspect());
    const history: { Size: number }[] = await withTimeout(QUERY_TIMEOUT_MS, 'inspecting an image', () =>
      image.history(),
    );
    return sizedLayers(RootFS.Layers ?? [], history.map(({ Size }) => Size).reverse());
  }

  return {
    async images() {
      return (await listed())
        .sort((a, b) => b.Created - a.Created)
        .flatMap((row) =>
          referencesOf(row).map((reference) => ({
            reference,
            sizeBytes: row.Size,
            createdAt: new Date(row.Created * 1000).toISOString(),
          })),
        )
        .slice(0, MAX_IMAGES);
    },

    async imageDetails() {
      const rows = await listed();
      const containers = await withTimeout(QUERY_TIMEOUT_MS, 'listing containers', (abortSignal) =>
        docker.listContainers({ all: true, abortSignal }),
      );
      const names = Map.groupBy(containers, ({ ImageID }) => ImageID);
      const details: ImageDetail[] = [];
      for (let at = 0; at < rows.length; at += INSPECTED_AT_ONCE) {
        const some = rows.slice(at, at + INSPECTED_AT_ONCE).map(async (row): Promise<ImageDetail | null> => {
          try {
            return {
              id: row.Id,
              references: referencesOf(row),
              containers: (names.get(row.Id) ?? []).map(({ Names, Id }) => Names[0]?.slice(1) ?? Id.slice(0, 12)),
              layers: await layersOf(row.Id),
            };
          } catch (error) {
            // Removed since it was listed.
            if (statusOf(error) === 404) return null;
            throw error;
          }
        });
        details.push(...(await Promise.all(some)).filter((detail) => detail !== null));
      }
      return details;
    },

    async removeImage(reference) {
      try {
        await withTimeout(REMOVE_TIMEOUT_MS, 'removing the image', () => docker.getImage(reference).remove());
      } catch (error) {
        if (statusOf(error) !== 404) throw toDockerError(error, reference);
      }
    },
  };
}

function referencesOf(row: { RepoTags?: string[] | null; RepoDigests?: string[] | null }): string[] {
  const tags = (row.RepoTags ?? []).filter((tag) => tag !== '<none>:<none>');
  return tags.length > 0 ? tags : (row.RepoDigests ?? []).filter((digest) => !digest.startsWith('<none>@'));
}

/**
 * Layers with their sizes. Docker's history has an entry for each, and further ones of 0 bytes that have no layer: where
 * empty layers make it unclear which are meant, the sizes go to the lowest layers.
 */
export function sizedLayers(diffIds: readonly string[], history: readonly number[]): ImageDetail['layers'] {
  const sizes = history.length === diffIds.length ? history : history.filter((bytes) => bytes > 0);
  let chain = '';
  return diffIds.map((diffId, index) => {
    chain = `${chain}/${diffId}`;
    return { chain, bytes: sizes[index] ?? 0 };
  });
}

/** What is gone from the disk with these images: layers that no other image has. */
export function freedBytes(all: readonly ImageDetail[], removed: ReadonlySet<string>): number {
  const kept = new Set(
    all.filter(({ id }) => !removed.has(id)).flatMap(({ layers }) => layers.map(({ chain }) => chain)),
  );
  const freed = new Map(
    all
      .filter(({ id }) => removed.has(id))
      .flatMap(({ layers }) =>
        layers.filter(({ chain }) => !kept.has(chain)).map(({ chain, bytes }) => [chain, bytes]),
      ),
  );
  return [...freed.values()].reduce((sum, bytes) => sum + bytes, 0);
}
