import type { Call } from '@stagi/contract/call.ts';
import { part } from '../ui/parts.ts';

/**
 * The contract with its schemas, which the pages do not carry: in the built app `@stagi/contract/api.ts` is the names
 * of the calls alone for every file but this one (see `vite.config.ts`). Fetched once, when a form is first used.
 */
export async function withSchemas<C extends Call>(of: C): Promise<C> {
  const { api } = await part(() => import('@stagi/contract/api.ts'));
  for (const domain of Object.values<Record<string, Call>>(api))
    for (const call of Object.values(domain)) if (call.path === of.path) return call as C;
  throw new Error(`The contract has no ${of.path}`);
}
