import type { Provider, ProviderOffer } from './provider.ts';

/** An offer as it was when it was rented, kept with the instance; its prices have columns of their own there. */
export type StoredOffer = Pick<ProviderOffer, 'id' | 'region' | 'cpu' | 'ramGb' | 'gpu' | 'disk'> & {
  canStop: boolean;
};

export function storedOffer({ traits }: Provider, { id, region, cpu, ramGb, gpu, disk }: ProviderOffer): StoredOffer {
  return { id, region, cpu, ramGb, gpu, disk, canStop: traits.canStop };
}
