import { type ComponentType, type LazyExoticComponent, lazy } from 'react';

const RETRY_DELAYS_MS = [300, 1_200];

/** Imports a chunk of the app. Retries when the network fails, so that a change of network is not an error. */
export async function loadChunk<Chunk>(load: () => Promise<Chunk>): Promise<Chunk> {
  for (const ms of RETRY_DELAYS_MS) {
    try {
      return await load();
    } catch (cause) {
      console.debug('A chunk of the app did not arrive; it is fetched again', cause);
      await new Promise((resolve) => setTimeout(resolve, ms));
    }
  }
  return load();
}

/** A component whose code is fetched when it is first rendered. */
export function lazyComponent<Props>(
  load: () => Promise<ComponentType<Props>>,
): LazyExoticComponent<ComponentType<Props>> {
  return lazy(async () => ({ default: await loadChunk(load) }));
}
