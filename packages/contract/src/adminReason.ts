import { z } from 'zod';

export const REASON_MAX = 500;

/** Why an operator shuts out somebody or a workspace: those it is about read it. */
export const Reason = z
  .string('Reason is required')
  .trim()
  .min(1, 'Reason is required')
  .max(REASON_MAX, 'Reason is too long: at most 500 characters');

export const DisabledState = z
  .object({
    at: z.string(),
    reason: z.string().nullable(),
    /** The operator who did it, while there is an account of them. */
    by: z.string().nullable(),
  })
  .nullable();
export type DisabledState = z.infer<typeof DisabledState>;
