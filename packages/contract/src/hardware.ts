import { z } from 'zod';
import { call } from './call.ts';
import { EntityFilterRequest, listOf } from './page.ts';
import { Price } from './price.ts';

export const Gpu = z.object({ name: z.string(), count: z.number().int(), memoryGb: z.number() });
export const Cpu = z.object({ name: z.string(), cores: z.number().int() });
export const Disk = z.object({ type: z.string(), sizeGb: z.number() });

export const Offer = z.object({
  offerId: z.string(),
  provider: z.string(),
  /** How the provider is called on screens. */
  providerTitle: z.string(),
  region: z.string(),
  gpu: Gpu.nullable(),
  cpu: Cpu,
  ramGb: z.number(),
  disk: Disk,
  pricePerHour: Price,
  stoppedPricePerHour: Price,
  spot: z.boolean(),
  canStop: z.boolean(),
  /** `unknown` when the provider does not say. */
  availability: z.enum(['available', 'low', 'none', 'unknown']),
  seenAt: z.string(),
  /** A cloud that makes no real machines, for trying the product. */
  simulated: z.boolean(),
});
export type Offer = z.infer<typeof Offer>;

/** Where a cloud stands: machines can be had, are being prepared for, or cannot be had and why. */
export const ProviderState = z.object({
  provider: z.string(),
  title: z.string(),
  state: z.enum(['ready', 'preparing', 'unavailable']),
  /** What happens now, or why there is nothing to rent. */
  detail: z.string().nullable(),
  /** 0 … 1 while preparing. */
  progress: z.number().nullable(),
  since: z.string().nullable(),
});
export type ProviderState = z.infer<typeof ProviderState>;

export const hardware = {
  offers: call({
    path: 'hardware/offer/list',
    summary: 'Servers that can be rented now, with their price an hour.',
    auth: ['INSTANCE_RENTED_MANAGEMENT'],
    byToken: true,
    input: z.object({
      filters: z
        .object({
          providers: z.array(z.string()).max(20).optional(),
          minCores: z.number().int().min(0).optional(),
          minRamGb: z.number().min(0).optional(),
          gpu: z.enum(['any', 'with', 'without']).default('any'),
        })
        .prefault({}),
      entityFilterRequest: EntityFilterRequest.extend({
        orderByField: z.enum(['price', 'cores', 'ram', 'gpu']).default('price'),
        orderByDirection: z.enum(['asc', 'desc']).default('asc'),
      }).prefault({}),
    }),
    output: listOf(Offer).extend({ providers: z.array(ProviderState) }),
  }),
};
