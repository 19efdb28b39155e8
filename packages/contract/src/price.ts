import { z } from 'zod';

/** Money on the wire: the amount as a decimal string, never a float. */
export const Money = z.object({ currency: z.string(), decimalValue: z.string().regex(/^-?\d+(\.\d{1,6})?$/) });
export type Money = z.infer<typeof Money>;

/** A price in STAGI, and in USD at the configured rate. */
export const Price = z.object({ STAGI: Money, USD: Money });
export type Price = z.infer<typeof Price>;
