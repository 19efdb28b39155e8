import type { Call } from '@stagi/contract/call.ts';
import { loadChunk } from '../lazyChunks.ts';

/**
 * Loads the contract with its schemas. In the built app `@stagi/contract/api.ts` holds only the names of the calls for
 * every file but this one (see `vite.config.ts`). Fetched once, when a form is first used.
 */
export async function withSchemas<C extends Call>(of: C): Promise<C> {
  const { api } = await loadChunk(() => import('@stagi/contract/api.ts'));
  for (const domain of Object.values<Record<string, Call>>(api))
    for (const call of Object.values(domain)) if (call.path === of.path) return call as C;
  throw new Error(`The contract has no ${of.path}`);
}
