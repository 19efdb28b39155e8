import { z } from 'zod';
import { call } from './call.ts';
import { ProviderState } from './hardware.ts';
import { Id, ListInput, listOf, oneOf } from './page.ts';

/** What a check asks of a cloud, by the methods of its adapter. */
export const CHECK_STEPS = ['readiness', 'offers', 'machines'] as const;

export const ProviderCheck = z.object({
  id: Id,
  provider: z.string(),
  /** `failed` also when no answer came by the deadline. */
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
      /** What the cloud said when it refused, or why nothing can be rented. */
      message: z.string().nullable(),
    }),
  ),
});
export type ProviderCheck = z.infer<typeof ProviderCheck>;

export const OperatedProvider = ProviderState.extend({
  /** When its state was looked up. */
  seenAt: z.string(),
  /** A cloud that makes no real machines. */
  simulated: z.boolean(),
  offers: z.number().int(),
  openInstances: z.number().int(),
  strays: z.number().int(),
  can: z.object({ stop: z.boolean(), reboot: z.boolean() }),
  billedWhenStopped: z.boolean(),
  /** Where a machine's readiness is learnt from. */
  readiness: z.enum(['daemon', 'provider']),
  hostUsername: z.string(),
  /** After which a start, reboot or stop counts as failed. */
  deadlineSeconds: z.number().int(),
  /** How fast it may be asked; null: as fast as one likes. */
  limit: z.object({ perSecond: z.number(), burst: z.number() }).nullable(),
  /** The newest order that it refused or did not carry out. */
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
    summary: 'The clouds that are set up: state, what they can do, limits, last error and last check.',
    auth: OPERATOR,
    input: ListInput,
    output: listOf(OperatedProvider),
  }),
  check: call({
    path: 'admin/provider/check',
    summary: 'Asks a cloud for its state, offers and machines, in the background; one that is under way is answered.',
    auth: OPERATOR,
    input: z.object({ provider: z.string().trim().min(1).max(60) }),
    output: oneOf(ProviderCheck),
  }),
};
