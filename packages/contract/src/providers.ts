import { z } from 'zod';
import { call } from './call.ts';
import { ProviderState } from './hardware.ts';
import { Id, ListInput, listOf, oneOf } from './page.ts';

/** The steps of a check of a cloud: methods of its adapter. */
export const CHECK_STEPS = ['readiness', 'offers', 'machines'] as const;

export const ProviderCheck = z.object({
  id: Id,
  provider: z.string(),
  /** Also `failed` when there was no answer by the deadline. */
  status: z.enum(['in queue', 'running', 'done', 'failed']),
  askedBy: z.string(),
  askedAt: z.string(),
  deadline: z.string(),
  endedAt: z.string().nullable(),
  steps: z.array(
    z.object({
      step: z.enum(CHECK_STEPS),
      isDone: z.boolean(),
      milliseconds: z.number().int(),
      /** How many offers or machines there were. */
      count: z.number().int().nullable(),
      /** The cloud's error message, or why nothing can be rented. */
      message: z.string().nullable(),
    }),
  ),
});
export type ProviderCheck = z.infer<typeof ProviderCheck>;

export const OperatedProvider = ProviderState.extend({
  /** When its state was fetched. */
  seenAt: z.string(),
  /** A simulated cloud. */
  simulated: z.boolean(),
  offers: z.number().int(),
  openInstances: z.number().int(),
  strays: z.number().int(),
  can: z.object({ stop: z.boolean(), reboot: z.boolean() }),
  billedWhenStopped: z.boolean(),
  /** Who reports that a machine is ready. */
  readiness: z.enum(['daemon', 'provider']),
  hostUsername: z.string(),
  /** A start, reboot or stop counts as failed after this. */
  deadlineSeconds: z.number().int(),
  /** The rate limit of its API; null: none. */
  limit: z.object({ perSecond: z.number(), burst: z.number() }).nullable(),
  /** The last action that it refused or failed to carry out. */
  lastError: z
    .object({ at: z.string(), action: z.string(), message: z.string(), instanceId: Id, slug: z.string() })
    .nullable(),
  check: ProviderCheck.nullable(),
});
export type OperatedProvider = z.infer<typeof OperatedProvider>;

const OPERATOR = ['EMPLOYEE'] as const;

export const providers = {
  list: call({
    path: 'admin/provider/list',
    summary: 'The configured clouds: state, capabilities, rate limits, last error and last check.',
    auth: OPERATOR,
    input: ListInput,
    output: listOf(OperatedProvider),
  }),
  check: call({
    path: 'admin/provider/check',
    summary:
      'Checks the state, offers and machines of a cloud in the background. Returns the check in progress, if any.',
    auth: OPERATOR,
    input: z.object({ provider: z.string().trim().min(1).max(60) }),
    output: oneOf(ProviderCheck),
  }),
};
