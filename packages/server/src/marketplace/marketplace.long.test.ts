import { api } from '@stagi/contract/api.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Provider } from '../providers/provider.ts';
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

it('the marketplace does not wait for a cloud that hangs', async () => {
  const hang: Provider['readiness'] = () => Promise.withResolvers<never>().promise;
  await withCloud(app, { readiness: hang }, async () => {
    const { entities, providers } = await alice.client(api.hardware.offers, {});
    expect(entities).toHaveLength(4);
    expect(providers[1]).toMatchObject({ state: 'unavailable', detail: 'Other cloud does not answer now' });
  });
});
