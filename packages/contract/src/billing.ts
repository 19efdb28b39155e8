import { z } from 'zod';
import { call } from './call.ts';
import { Id, SuccessResponse } from './page.ts';
import { Money } from './price.ts';
import { text } from './text.ts';

const Amount = z.object({ decimalValue: z.string() });

/** Why the owner of a new workspace got no starter credit: the mailbox has had it, or too many came from one network. */
export const StarterRefusal = z.enum(['mailbox', 'network']);
export type StarterRefusal = z.infer<typeof StarterRefusal>;

export const Balance = z.object({
  isSuccess: z.literal(true),
  clientBalance: z.object({ USD: Amount, STAGI: Amount }),
  exhausted: z.boolean(),
  starterRefused: StarterRefusal.nullable(),
  /** What a zero balance has done to rented servers and storages; null when the balance is not zero. */
  zero: z
    .object({
      /** When the stopped servers and the storages will be deleted. */
      keptUntil: z.string(),
      /** Stopped servers that are kept. */
      kept: z.number().int(),
      /** Servers that were terminated because their clouds cannot stop servers; their data is lost. */
      lost: z.number().int(),
      /** Storages that are read-only and kept. */
      storages: z.number().int(),
      /** Whether credit has arrived since, too little to start all of them; the rest of a reserve does not count. */
      credited: z.boolean(),
    })
    .nullable(),
  /** STAGI an hour. */
  burnPerHour: z.string(),
  /** STAGI that must be left besides: reserved for terminating servers of clouds that cannot stop them. */
  reserve: z.string(),
  /** Whole and fractional days; `null` when nothing is spent. */
  daysLeft: z.number().nullable(),
});
export type Balance = z.infer<typeof Balance>;

/** A server that a zero balance stopped. */
const Held = z.object({
  id: Id,
  title: z.string(),
  slug: z.string(),
  /** What running it adds to the rate per hour. */
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
    summary:
      'The servers that a zero balance stopped, the storages that it made read-only, how long they are kept, and what starting them requires.',
    auth: MANAGE,
    input: z.object({}),
    output: z.object({
      isSuccess: z.literal(true),
      exhausted: z.boolean(),
      /** When the stopped servers and the storages will be deleted; null when the balance is not zero. */
      keptUntil: z.string().nullable(),
      balance: Money,
      /** The rate per hour of everything else, with the reserve. */
      otherPerHour: Money,
      instances: z.array(Held),
      /** Servers that were terminated because their clouds cannot stop servers; their data is lost. At most 100. */
      lost: z.array(Held.omit({ pricePerHour: true })),
      /** Storages that are read-only and kept. At most 100. */
      storages: z.array(Held.omit({ pricePerHour: true })),
    }),
  }),
  resume: call({
    path: 'billing/resume',
    summary: 'Starts the given servers that a zero balance stopped; the others stay stopped.',
    auth: MANAGE,
    input: z.object({ instanceIds: z.array(Id).max(1_000, text('At most 1,000 servers at once')) }),
    output: SuccessResponse,
  }),
};
