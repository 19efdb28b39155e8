import { z } from 'zod';
import { call } from './call.ts';
import { EntityFilterRequest, Id, ListInput, listOf } from './page.ts';
import { Money } from './price.ts';

/** A stretch of time that a rented server had one price, as far as it lies within what was asked for. */
export const UsageInterval = z.object({
  id: Id,
  instance: z.object({ id: Id, slug: z.string(), title: z.string() }),
  /** `running`, or `stopped` where only its disk costs. */
  rate: z.enum(['running', 'stopped']),
  from: z.string(),
  /** Up to where it was charged; null before the first charge. */
  to: z.string().nullable(),
  /** Whether it goes on. */
  open: z.boolean(),
  seconds: z.number(),
  pricePerHour: Money,
  /** What the price says for these seconds, rounded down to micro-units. */
  quoted: Money,
  /** What was taken from the balance for them and not given back. */
  charged: Money,
  /** What the balance did not hold any more: nobody pays for it. */
  uncollected: Money,
  /** What was given back, as it turned out shorter or the server never became ready. */
  refunded: Money,
});
export type UsageInterval = z.infer<typeof UsageInterval>;

/** Both are included. A text narrows to servers whose name or Unique ID holds it. */
const Between = { from: z.iso.datetime().optional(), to: z.iso.datetime().optional() };

const BILLING = ['BILLING'] as const;

export const usage = {
  list: call({
    path: 'billing/usage/list',
    summary: 'What rented servers were charged for: intervals of one price, newest first, with their sum.',
    auth: BILLING,
    input: ListInput.extend(Between),
    output: listOf(UsageInterval).extend({
      /** Over all of them, not only this page. */
      total: z.object({
        seconds: z.number(),
        quoted: Money,
        charged: Money,
        uncollected: Money,
        refunded: Money,
      }),
      /** What was charged on each day (of UTC) that has something, oldest first; at most 400 days. */
      days: z.array(z.object({ day: z.string(), charged: Money })),
    }),
  }),
  export: call({
    path: 'billing/usage/export',
    summary: 'The same intervals as lines of CSV, newest first, in parts: go on with `before` until `next` is null.',
    auth: BILLING,
    input: z.object({
      ...Between,
      queryString: EntityFilterRequest.shape.queryString,
      before: Id.optional(),
    }),
    output: z.object({ isSuccess: z.literal(true), csv: z.string(), next: Id.nullable() }),
  }),
};
