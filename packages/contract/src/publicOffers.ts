import { z } from 'zod';
import { call } from './call.ts';
import { Cpu, Gpu, Offer } from './hardware.ts';
import { Price } from './price.ts';

/** Most kinds of machine that one answer names. */
export const PUBLIC_OFFERS_MAX = 12;

/** A kind of machine at the price of its cheapest offer, as visitors see it: without what only a rent needs. */
export const PublicOffer = z.object({
  gpu: Gpu.nullable(),
  cpu: Cpu,
  ramGb: z.number(),
  /** The cloud's name on screens. */
  provider: z.string(),
  region: z.string(),
  spot: z.boolean(),
  pricePerHour: Price,
  /** Never `none`: what is sold out is left out. */
  availability: Offer.shape.availability,
});
export type PublicOffer = z.infer<typeof PublicOffer>;

export const publicOffers = {
  list: call({
    path: 'public-offer/list',
    summary:
      'Kinds of machine that can be rented here now, each at its lowest price an hour: those with GPUs first, then by ' +
      'price. Simulated clouds are left out. Limited by address.',
    auth: 'public',
    input: z.object({}),
    output: z.object({
      isSuccess: z.literal(true),
      entities: z.array(PublicOffer).max(PUBLIC_OFFERS_MAX),
      /** Whether a cloud is still being prepared: its offers are missing. */
      preparing: z.boolean(),
    }),
  }),
};
