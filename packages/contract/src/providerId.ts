import { z } from 'zod';

/** The id of an identity provider; apart from the names, as first pages contain no schema. */
export const ProviderId = z
  .string()
  .min(1)
  .max(20)
  .regex(/^[a-z0-9](-?[a-z0-9])*$/);
