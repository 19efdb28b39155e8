import { HELD } from '@stagi/contract/errors.ts';
import { type Provider, ProviderError } from './provider.ts';

/** A cloud with its name and traits alone: none of its methods reaches it. */
export function untouched({ name, title, traits, simulated = false }: Provider): Provider {
  const refuse = async (): Promise<never> => {
    throw new ProviderError('retryable', HELD);
  };
  return {
    name,
    title,
    traits,
    simulated,
    readiness: async () => ({ state: 'unavailable', reason: HELD }),
    offers: refuse,
    start: refuse,
    getMachine: refuse,
    list: refuse,
    terminate: refuse,
  };
}
