import { z } from 'zod';
import { call } from './call.ts';
import { EntityFilterRequest, Id, ListInput, listOf } from './page.ts';
import { Money } from './price.ts';

/** What is billed by time. */
export const BilledResource = z.object({
  kind: z.enum(['instance-rented', 'storage']),
  id: Id,
  slug: z.string(),
  title: z.string(),
});
export type BilledResource = z.infer<typeof BilledResource>;

/** An interval in which a rented server or a storage had one price, clipped to the requested range. */
export const UsageInterval = z.object({
  id: Id,
  resource: BilledResource,
  /** Of a server `running`, or `stopped` when only its disk is charged; of a storage `size`. */
  rate: z.enum(['running', 'stopped', 'size']),
  from: z.string(),
  /** Charged up to this time; null before the first charge. */
  to: z.string().nullable(),
  /** Whether it is still open. */
  open: z.boolean(),
  seconds: z.number(),
  /** Rounded up to micro-units. */
  pricePerHour: Money,
  /** The exact price, for so many hours: 1 of a server, 730 of a storage. */
  price: Money,
  priceHours: z.number().int(),
  /** Price × seconds / (3600 × priceHours), rounded down to micro-units. */
  quoted: Money,
  /** Debited from the balance and not refunded. */
  charged: Money,
  /** Not covered by the balance, and written off. */
  uncollected: Money,
  /** Refunded, as the interval turned out shorter or the server never became ready. */
  refunded: Money,
});
export type UsageInterval = z.infer<typeof UsageInterval>;

/** `from` and `to` are inclusive. A text finds servers and storages whose name or Unique ID contains it. */
const Between = { from: z.iso.datetime().optional(), to: z.iso.datetime().optional() };

const BILLING = ['BILLING'] as const;

export const usage = {
  list: call({
    path: 'billing/usage/list',
    summary: 'The usage of rented servers and storages: intervals at one price, newest first, with their total.',
    auth: BILLING,
    input: ListInput.extend(Between),
    output: listOf(UsageInterval).extend({
      /** The total of all intervals, not only of this page. */
      total: z.object({
        seconds: z.number(),
        quoted: Money,
        charged: Money,
        uncollected: Money,
        refunded: Money,
      }),
      /** The charges of each day (UTC) that has any, oldest first; at most 400 days. */
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
