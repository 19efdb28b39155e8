import { api } from '@stagi/contract/api.ts';
import { CallError } from '@stagi/contract/errors.ts';
import { PUBLIC_OFFERS_MAX } from '@stagi/contract/publicOffers.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Provider, ProviderOffer } from '../providers/provider.ts';
import { type CloudApp, startCloudApp } from '../testing/cloudApp.ts';

let app: CloudApp;
beforeAll(async () => {
  app = await startCloudApp({ MARKUP_PERCENT: '10' });
});
afterAll(() => app?.close());

const clouds = () => app.ctx.providers as Map<string, Provider>;
beforeEach(() => {
  for (const name of clouds().keys()) if (name !== 'fake') clouds().delete(name);
});

const SERVER: ProviderOffer = {
  id: 'small',
  region: 'eu-1',
  cpu: { name: 'EPYC', cores: 4 },
  ramGb: 16,
  gpu: null,
  disk: { type: 'NVMe', sizeGb: 100 },
  pricePerHour: 100_000n,
  stoppedPricePerHour: 10_000n,
  spot: false,
  available: 5,
};
const gpu = (name: string, count: number, change: Partial<ProviderOffer>): ProviderOffer => ({
  ...SERVER,
  id: `${name}-${count}-${change.pricePerHour}`,
  gpu: { name, count, memoryGb: 80 },
  ...change,
});

/** A cloud that is not simulated. */
function addCloud(name: string, offers: ProviderOffer[], change: Partial<Provider> = {}): void {
  const like = clouds().get('fake')!;
  clouds().set(name, {
    ...like,
    name,
    title: `Cloud ${name}`,
    simulated: false,
    offers: async () => offers,
    ...change,
  });
}

const list = () => app.anonymous(api.publicOffers.list, {});

describe('the offers that visitors see', () => {
  it('are none of a simulated cloud', async () => {
    expect(await list()).toEqual({ isSuccess: true, entities: [], preparing: false });
  });

  it('are the cheapest of each kind of machine that can be rented, GPUs first, without what a rent needs', async () => {
    addCloud('a', [
      SERVER,
      gpu('H100', 1, { pricePerHour: 2_000_000n, available: 0 }),
      gpu('H100', 1, { pricePerHour: 3_000_000n, available: 2 }),
      gpu('H100', 8, { pricePerHour: 20_000_000n, available: null }),
    ]);
    addCloud('b', [gpu('H100', 1, { pricePerHour: 2_500_000n, spot: true }), gpu('L4', 1, { pricePerHour: 500_000n })]);
    const { entities } = await list();
    expect(entities.map(({ gpu, provider, availability }) => [gpu?.name, gpu?.count, provider, availability])).toEqual([
      ['L4', 1, 'Cloud b', 'available'],
      ['H100', 1, 'Cloud b', 'available'],
      ['H100', 8, 'Cloud a', 'unknown'],
      [undefined, undefined, 'Cloud a', 'available'],
    ]);
    expect(entities[1]).toEqual({
      gpu: { name: 'H100', count: 1, memoryGb: 80 },
      cpu: SERVER.cpu,
      ramGb: 16,
      provider: 'Cloud b',
      region: 'eu-1',
      spot: true,
      pricePerHour: {
        STAGI: { currency: 'STAGI', decimalValue: '2.75' },
        USD: { currency: 'USD', decimalValue: '2.75' },
      },
      availability: 'available',
    });
  });

  it('are few, and name machines without a GPU beside many with one', async () => {
    const many = Array.from({ length: 20 }, (_, n) => gpu(`G${n}`, 1, { pricePerHour: BigInt(n + 1) * 1_000_000n }));
    const small = Array.from({ length: 5 }, (_, n) => ({ ...SERVER, id: `c${n}`, ramGb: 16 * (n + 1) }));
    addCloud('a', [...many, ...small]);
    const { entities } = await list();
    expect(entities).toHaveLength(PUBLIC_OFFERS_MAX);
    expect(entities.filter((offer) => offer.gpu)).toHaveLength(9);
  });

  it('come with whether a cloud is still being prepared', async () => {
    const since = new Date('2026-05-01T12:00:00Z');
    addCloud('a', [SERVER], {
      readiness: async () => ({ state: 'preparing', step: 'Building', progress: 0.4, since }),
    });
    expect(await list()).toEqual({ isSuccess: true, entities: [], preparing: true });
  });

  it('are limited by address', async () => {
    const refusals: unknown[] = [];
    for (let asked = 0; asked < 130; asked += 1) await list().catch((error: unknown) => refusals.push(error));
    expect(refusals.length).toBeGreaterThanOrEqual(10);
    for (const refusal of refusals) {
      expect(refusal).toBeInstanceOf(CallError);
      expect(refusal).toMatchObject({ status: 429, retryAfter: expect.any(Number) });
    }
  });
});
