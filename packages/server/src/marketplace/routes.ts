import type { api } from '@stagi/contract/api.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { networkOf } from '../http/network.ts';
import { consumePoint, createRateLimiter } from '../http/rateLimit.ts';
import { listOffers } from './list.ts';
import { listPublicOffers } from './publicOffers.ts';

export const hardwareHandlers: HandlersOf<typeof api.hardware> = {
  offers: (ctx, input) => listOffers(ctx, input),
};

const publicLimit = createRateLimiter({ points: 120, duration: 60 });

export const publicOfferHandlers: HandlersOf<typeof api.publicOffers> = {
  async list(ctx) {
    await consumePoint(publicLimit(ctx), networkOf(ctx.ip));
    return listPublicOffers(ctx);
  },
};
