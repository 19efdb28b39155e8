import { z } from 'zod';
import type { ErrorBody } from './errors.ts';

/** The schema of `ErrorBody`, for the API description. */
export const ErrorBodySchema = z.object({
  isSuccess: z.literal(false),
  message: z.string(),
  /** The fields that get `message` as their error. */
  fieldsWithError: z.array(z.string()).optional(),
  /** A message for each refused field, where they differ. */
  fieldMessages: z.record(z.string(), z.string()).optional(),
  /** `message` before its values were filled in, for translation: `'{{title}} is in use'`. */
  template: z.string().optional(),
  values: z.record(z.string(), z.union([z.string(), z.number()])).optional(),
  /**
   * `step-up`, with 403: the same call succeeds once `auth/step-up` has been made in this session. `held`, with 503: the
   * platform was restored from a backup and changes nothing until an operator releases it. `mail`, with 503: the platform
   * cannot mail a code now.
   */
  code: z.enum(['step-up', 'held', 'mail']).optional(),
  /** 499 when the caller closed the connection. */
  status: z.number().optional(),
  requestId: z.string().optional(),
}) satisfies z.ZodType<ErrorBody>;
