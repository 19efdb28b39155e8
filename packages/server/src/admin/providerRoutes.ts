import type { api } from '@stagi/contract/api.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { requestProviderCheck } from './providerCheck.ts';
import { listProviders } from './providerList.ts';

export const providerHandlers: HandlersOf<typeof api.providers> = {
  list: (ctx, { entityFilterRequest }) => listProviders(ctx, entityFilterRequest),
  async check(ctx, { provider }) {
    return { isSuccess: true, entity: await requestProviderCheck(ctx, provider) };
  },
};
