import { api } from '@stagi/contract/api.ts';
import type { InputOf } from '@stagi/contract/call.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Provider, ProviderError } from '../providers/provider.ts';
import { type CloudApp, startCloudApp } from '../testing/cloudApp.ts';
import type { Person } from '../testing/person.ts';
import { withCloud } from './testing/withCloud.ts';

let app: CloudApp;
let alice: Person;
beforeAll(async () => {
  app = await startCloudApp();
  alice = await app.signUp();
});
afterAll(() => app?.close());

const offers = (input: InputOf<typeof api.hardware.offers> = {}) => alice.client(api.hardware.offers, input);
const idsOf = async (input: InputOf<typeof api.hardware.offers>) =>
  (await offers(input)).entities.map(({ offerId }) => offerId);

describe('the marketplace', () => {
  it('shows what can be rented with the price an hour in STAGI and USD, cheapest first', async () => {
    const { entities, totalCount, providers } = await offers();
    expect(totalCount).toBe(4);
    expect(providers).toEqual([
      { provider: 'fake', title: 'Simulated cloud', state: 'ready', detail: null, progress: null, since: null },
    ]);
    expect(entities[0]).toMatchObject({
      offerId: 'fake:sim-cpu-4',
      providerTitle: 'Simulated cloud',
      gpu: null,
      pricePerHour: { STAGI: { decimalValue: '0.092' }, USD: { currency: 'USD', decimalValue: '0.092' } },
      stoppedPricePerHour: { STAGI: { decimalValue: '0.0046' } },
      availability: 'available',
      canStop: true,
      simulated: true,
    });
    expect(entities.at(-1)).toMatchObject({ offerId: 'fake:sim-h100-8', availability: 'low' });
  });

  it.each<[InputOf<typeof api.hardware.offers>, string[]]>([
    [{ filters: { gpu: 'without' } }, ['fake:sim-cpu-4']],
    [{ filters: { gpu: 'with', minRamGb: 100 } }, ['fake:sim-a100-1', 'fake:sim-h100-8']],
    [{ filters: { minCores: 8 }, entityFilterRequest: { limit: 1 } }, ['fake:sim-l4-1']],
    [{ filters: { providers: ['nowhere'] } }, []],
    [{ entityFilterRequest: { queryString: 'h100' } }, ['fake:sim-h100-8']],
    [{ entityFilterRequest: { queryString: 'EU-SIM' } }, ['fake:sim-cpu-4', 'fake:sim-l4-1']],
    [
      { entityFilterRequest: { orderByField: 'gpu', orderByDirection: 'desc', limit: 2 } },
      ['fake:sim-h100-8', 'fake:sim-a100-1'],
    ],
    [{ entityFilterRequest: { orderByField: 'cores', limit: 2, page: 2 } }, ['fake:sim-a100-1', 'fake:sim-h100-8']],
    [{ entityFilterRequest: { orderByField: 'ram', orderByDirection: 'desc', limit: 1 } }, ['fake:sim-h100-8']],
  ])('filters, searches, sorts and pages: %j', async (input, expected) => {
    expect(await idsOf(input)).toEqual(expected);
  });

  it('refuses to sort by anything else', async () => {
    const input = { entityFilterRequest: { orderByField: 'provider' } } as unknown as InputOf<
      typeof api.hardware.offers
    >;
    await expect(offers(input)).rejects.toMatchObject({ status: 400 });
  });

  it('merges all clouds', async () => {
    await withCloud(app, {}, async () => {
      expect((await offers()).totalCount).toBe(8);
      expect(await idsOf({ filters: { providers: ['other'], gpu: 'without' } })).toEqual(['other:sim-cpu-4']);
    });
  });

  it('lists the others when a cloud fails, and shows that it failed', async () => {
    const offersFail = async () => {
      throw new ProviderError('retryable', 'down');
    };
    await withCloud(app, { offers: offersFail }, async () => {
      const { entities, providers } = await offers();
      expect(entities).toHaveLength(4);
      expect(providers[1]).toMatchObject({
        provider: 'other',
        state: 'unavailable',
        detail: 'Other cloud did not answer as it should',
      });
    });
  });

  it('shows the progress of a cloud that is being prepared, and none of its offers', async () => {
    const since = new Date('2026-05-01T12:00:00Z');
    const readiness: Provider['readiness'] = async () => ({
      state: 'preparing',
      step: 'Building',
      progress: 0.4,
      since,
    });
    await withCloud(app, { readiness }, async () => {
      const { entities, providers } = await offers();
      expect(entities).toHaveLength(4);
      expect(providers[1]).toMatchObject({
        state: 'preparing',
        detail: 'Building',
        progress: 0.4,
        since: since.toISOString(),
      });
    });
  });
});
