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
  /** The provider's name on screens. */
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
  /** A simulated cloud, for trying the product. */
  simulated: z.boolean(),
});
export type Offer = z.infer<typeof Offer>;

/** The state of a cloud: machines can be rented, it is being prepared, or it is unavailable and why. */
export const ProviderState = z.object({
  provider: z.string(),
  title: z.string(),
  state: z.enum(['ready', 'preparing', 'unavailable']),
  /** The current step, or why nothing can be rented. */
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
