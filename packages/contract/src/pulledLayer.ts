import { z } from 'zod';

/** A pull tells of at most so many layers. */
export const PULLED_LAYERS_MAX = 128;

/** A layer of an image that is being pulled. `total` is null until it is known. */
export const PulledLayer = z.object({
  id: z.string().max(80),
  status: z.enum(['waiting', 'downloading', 'extracting', 'done']),
  current: z.number().min(0),
  total: z.number().min(0).nullable(),
});
export type PulledLayer = z.infer<typeof PulledLayer>;
