import type { Provider, ProviderOffer } from '@stagi/server/src/providers/provider.ts';
import type { TestApp } from '@stagi/server/src/testing/app.ts';

/** The clouds of an app in the process of its stories, which may change them. */
export const cloudsOf = (app: TestApp) => app.ctx.providers as Map<string, Provider>;

export const CPU: ProviderOffer = {
  id: 'cpu',
  region: 'eu-1',
  cpu: { name: 'EPYC 9354', cores: 8 },
  ramGb: 32,
  gpu: null,
  disk: { type: 'NVMe', sizeGb: 200 },
  pricePerHour: 200_000n,
  stoppedPricePerHour: 20_000n,
  spot: false,
  available: 9,
};
export const GPUS: ProviderOffer[] = (
  [
    ['L4', 1, 24, 700_000n],
    ['L40S', 1, 48, 1_400_000n],
    ['H100', 1, 80, 2_900_000n],
    ['H200', 1, 141, 3_800_000n],
    ['H100', 8, 80, 22_000_000n],
    ['B200', 8, 180, 44_000_000n],
  ] as const
).map(([name, count, memoryGb, pricePerHour]) => ({
  ...CPU,
  id: `${name}-${count}`,
  cpu: { name: 'EPYC 9554', cores: 16 * count },
  ramGb: 128 * count,
  gpu: { name, count, memoryGb },
  pricePerHour,
  available: count === 8 ? 1 : 9,
}));

/** A cloud with these offers, which is not simulated. */
export function addCloud(app: TestApp, offers: ProviderOffer[], change: Partial<Provider> = {}): void {
  cloudsOf(app).set('test', {
    name: 'test',
    title: 'Test cloud',
    traits: { canStop: true, billedWhenStopped: true, readiness: 'daemon', hostUsername: 'root', deadlineMs: 60_000 },
    readiness: async () => ({ state: 'ready' }),
    offers: async () => offers,
    start: () => Promise.reject(new Error('nothing is rented here')),
    getMachine: async () => null,
    list: async () => [],
    terminate: async () => {},
    ...change,
  });
}
