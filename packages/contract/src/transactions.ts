import { z } from 'zod';
import { call } from './call.ts';
import { Id, ListInput, listOf, oneOf } from './page.ts';
import { Money } from './price.ts';

export const TRANSACTION_TYPES = ['Deposit', 'Spending', 'Exchange', 'Withdrawal'] as const;
export type TransactionType = (typeof TRANSACTION_TYPES)[number];

/** What changed what the workspace can spend: one booking, or what one server used on one day (of UTC). */
export const Transaction = z.object({
  id: Id,
  type: z.enum(TRANSACTION_TYPES),
  /** What it was, more closely: `promo`, `usage`, `reversal`. */
  kind: z.string(),
  createdAt: z.string(),
  /** Negative where the balance became less. */
  amount: Money,
  addresses: z.object({ from: z.string().nullable(), to: z.string().nullable() }),
  network: z.string().nullable(),
  /** Of use. */
  instance: z.object({ id: Id, slug: z.string(), title: z.string(), kind: z.string() }).nullable(),
  /** Of use: `2026-11-22`. It grows until the day is over. */
  day: z.string().nullable(),
});
export type Transaction = z.infer<typeof Transaction>;

/** A stretch of time at one price, as far as it was charged on the day of its transaction. */
export const ChargedSegment = z.object({
  id: Id,
  from: z.string(),
  to: z.string(),
  seconds: z.number(),
  pricePerHour: Money,
  amount: Money,
});
export type ChargedSegment = z.infer<typeof ChargedSegment>;

const BILLING = ['BILLING'] as const;

export const transactions = {
  list: call({
    path: 'v2/billing/transaction-list',
    summary: 'What came to the balance and what it was spent on, newest first; use is one row for each server and day.',
    auth: BILLING,
    input: ListInput.extend({
      types: z.array(z.enum(TRANSACTION_TYPES)).max(TRANSACTION_TYPES.length).optional(),
      /** Both are included. */
      from: z.iso.datetime().optional(),
      to: z.iso.datetime().optional(),
    }),
    output: listOf(Transaction),
  }),
  view: call({
    path: 'v2/billing/transaction/view',
    summary: 'One of them, with the stretches of time that it was charged for.',
    auth: BILLING,
    input: z.object({ id: Id }),
    output: oneOf(Transaction).extend({ segments: z.array(ChargedSegment) }),
  }),
};
