import type { Provider, ProviderOffer } from './provider.ts';

/** The offer of an instance as it was rented; its prices are separate columns of the instance. */
export type StoredOffer = Pick<ProviderOffer, 'id' | 'region' | 'cpu' | 'ramGb' | 'gpu' | 'disk'> & {
  canStop: boolean;
};

export function storedOffer({ traits }: Provider, { id, region, cpu, ramGb, gpu, disk }: ProviderOffer): StoredOffer {
  return { id, region, cpu, ramGb, gpu, disk, canStop: traits.canStop };
}
