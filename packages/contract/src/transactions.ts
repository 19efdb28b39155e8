import { z } from 'zod';
import { call } from './call.ts';
import { Id, ListInput, listOf, oneOf } from './page.ts';
import { Money } from './price.ts';
import { BilledResource } from './usage.ts';

export const TRANSACTION_TYPES = ['Deposit', 'Spending', 'Exchange', 'Withdrawal'] as const;
export type TransactionType = (typeof TRANSACTION_TYPES)[number];

/** A change of the balance of a workspace: one booking, or the usage of one server or storage on one day (UTC). */
export const Transaction = z.object({
  id: Id,
  type: z.enum(TRANSACTION_TYPES),
  /** The kind of booking: `promo`, `usage`, `reversal`. */
  kind: z.string(),
  createdAt: z.string(),
  /** Negative for a debit. */
  amount: Money,
  addresses: z.object({ from: z.string().nullable(), to: z.string().nullable() }),
  network: z.string().nullable(),
  /** Set for usage and its refunds. */
  resource: BilledResource.nullable(),
  /** Why an operator added it; null for all but a `grant`. */
  reason: z.string().nullable().optional(),
  /** Set for usage: `2026-11-22`. The amount grows until the day is over. */
  day: z.string().nullable(),
});
export type Transaction = z.infer<typeof Transaction>;

/** A usage interval at one price, as far as it was charged on the day of the transaction. */
export const ChargedSegment = z.object({
  id: Id,
  from: z.string(),
  to: z.string(),
  seconds: z.number(),
  /** Rounded up to micro-units. */
  pricePerHour: Money,
  /** The exact price, for so many hours. */
  price: Money,
  priceHours: z.number().int(),
  amount: Money,
});
export type ChargedSegment = z.infer<typeof ChargedSegment>;

const BILLING = ['BILLING'] as const;

export const transactions = {
  list: call({
    path: 'v2/billing/transaction-list',
    summary: 'Credits and debits of the balance, newest first; usage is one row per day and server or storage.',
    auth: BILLING,
    input: ListInput.extend({
      types: z.array(z.enum(TRANSACTION_TYPES)).max(TRANSACTION_TYPES.length).optional(),
      /** Inclusive. */
      from: z.iso.datetime().optional(),
      to: z.iso.datetime().optional(),
    }),
    output: listOf(Transaction),
  }),
  view: call({
    path: 'v2/billing/transaction/view',
    summary: 'One transaction with the usage intervals that it charged.',
    auth: BILLING,
    input: z.object({ id: Id }),
    output: oneOf(Transaction).extend({ segments: z.array(ChargedSegment) }),
  }),
};
