import { z } from 'zod';
import { call } from './call.ts';

const Amount = z.object({ decimalValue: z.string() });

export const Balance = z.object({
  isSuccess: z.literal(true),
  clientBalance: z.object({ USD: Amount, STAGI: Amount }),
  exhausted: z.boolean(),
  /** STAGI an hour. */
  burnPerHour: z.string(),
  /** Whole and fractional days; `null` when nothing is spent. */
  daysLeft: z.number().nullable(),
});
export type Balance = z.infer<typeof Balance>;

export const billing = {
  balance: call({
    path: 'billing/balance',
    summary: 'The balance of the workspace, what it spends an hour, and how long it lasts.',
    auth: 'member',
    byToken: true,
    input: z.object({}),
    output: Balance,
  }),
};
