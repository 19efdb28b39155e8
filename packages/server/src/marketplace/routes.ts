import type { api } from '@stagi/contract/api.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { listOffers } from './list.ts';

export const hardwareHandlers: HandlersOf<typeof api.hardware> = {
  offers: (ctx, input) => listOffers(ctx, input),
};
