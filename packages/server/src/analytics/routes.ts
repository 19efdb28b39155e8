import type { api } from '@stagi/contract/api.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { storeEvent } from './storeEvent.ts';

export const analyticsHandlers: HandlersOf<typeof api.analytics> = {
  async event(ctx, input) {
    await storeEvent(ctx, input);
    return { isSuccess: true };
  },
};
