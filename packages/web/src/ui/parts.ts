import { type ComponentType, type LazyExoticComponent, lazy } from 'react';

const WAITS_MS = [300, 1_200];

/** Fetches a part of the app when it is needed: again where the network changed under it, before anybody is told. */
export async function part<Part>(load: () => Promise<Part>): Promise<Part> {
  for (const ms of WAITS_MS) {
    try {
      return await load();
    } catch (cause) {
      console.debug('A part of the app did not arrive; it is fetched again', cause);
      await new Promise((resolve) => setTimeout(resolve, ms));
    }
  }
  return load();
}

/** A component whose code is fetched when it is first drawn. */
export function lazyPart<Props>(load: () => Promise<ComponentType<Props>>): LazyExoticComponent<ComponentType<Props>> {
  return lazy(async () => ({ default: await part(load) }));
}
