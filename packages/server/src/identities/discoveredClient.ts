import type { Configuration } from 'openid-client';
import type { Context } from '../context.ts';
import { unreachable } from './errors.ts';

const clients = new WeakMap<object, Promise<Configuration>>();

/**
 * A client of a provider whose discovery document is read once; its keys are read again when it signs with a new one. A
 * failure is not kept. `settings` are the key.
 */
export async function discoveredClient(
  ctx: Pick<Context, 'config' | 'log'>,
  provider: string,
  settings: object,
  discover: () => Promise<Configuration>,
): Promise<Configuration> {
  let client = clients.get(settings);
  if (!client) {
    client = discover();
    clients.set(settings, client);
  }
  try {
    return await client;
  } catch (cause) {
    clients.delete(settings);
    throw unreachable(ctx, provider, cause);
  }
}
