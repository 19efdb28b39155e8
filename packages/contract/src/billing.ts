import { z } from 'zod';
import { call } from './call.ts';
import { Done, Id } from './page.ts';
import { Money } from './price.ts';

const Amount = z.object({ decimalValue: z.string() });

export const Balance = z.object({
  isSuccess: z.literal(true),
  clientBalance: z.object({ USD: Amount, STAGI: Amount }),
  exhausted: z.boolean(),
  /** What a balance of zero has done to rented servers; null without one. */
  zero: z
    .object({
      /** When what is kept will be deleted. */
      keptUntil: z.string(),
      /** Stopped servers that are kept. */
      kept: z.number().int(),
      /** Servers that were terminated, as their clouds cannot stop any: the data on them is lost. */
      lost: z.number().int(),
      /** Whether something has come since, which does not reach for all of it; what was left of a reserve has not. */
      credited: z.boolean(),
    })
    .nullable(),
  /** STAGI an hour. */
  burnPerHour: z.string(),
  /** STAGI that must be left beside an hour of it: what clouds that cannot stop a server need to end it in order. */
  reserve: z.string(),
  /** Whole and fractional days; `null` when nothing is spent. */
  daysLeft: z.number().nullable(),
});
export type Balance = z.infer<typeof Balance>;

/** A server that the balance of zero stopped. */
const Held = z.object({
  id: Id,
  title: z.string(),
  slug: z.string(),
  /** What starting it again adds to an hour. */
  pricePerHour: Money,
});

const MANAGE = ['INSTANCE_RENTED_MANAGEMENT'] as const;

export const billing = {
  balance: call({
    path: 'billing/balance',
    summary: 'The balance of the workspace, what it spends an hour, and how long it lasts.',
    auth: 'member',
    byToken: true,
    input: z.object({}),
    output: Balance,
  }),
  zero: call({
    path: 'billing/zero/view',
    summary: 'What a balance of zero stopped, until when it is kept, and what starting it again takes.',
    auth: MANAGE,
    input: z.object({}),
    output: z.object({
      isSuccess: z.literal(true),
      exhausted: z.boolean(),
      /** When what was stopped will be deleted; null without a balance of zero. */
      keptUntil: z.string().nullable(),
      balance: Money,
      /** What an hour of everything else costs, with what must be left beside it. */
      otherPerHour: Money,
      instances: z.array(Held),
      /** Those that it ended, as their clouds cannot stop any: the data on them is lost. At most 100. */
      lost: z.array(Held.omit({ pricePerHour: true })),
    }),
  }),
  resume: call({
    path: 'billing/resume',
    summary: 'Starts these of the servers that a balance of zero stopped; the others stay stopped.',
    auth: MANAGE,
    input: z.object({ instanceIds: z.array(Id).max(1_000, 'At most 1,000 servers at once') }),
    output: Done,
  }),
};
