import { z } from 'zod';
import { plainText } from './plainText.ts';
import { text } from './text.ts';

export const REASON_MAX = 500;

const reasonOf = ({ max, tooLong }: { max: number; tooLong: string }) =>
  z
    .string(text('Reason is required'))
    .transform(plainText)
    .pipe(z.string().trim().min(1, text('Reason is required')).max(max, tooLong));

/** Why an operator disables or deletes an account, or disables a workspace; shown to the people concerned. */
export const DisableReason = reasonOf({
  max: REASON_MAX,
  tooLong: text('Reason is too long: at most 500 characters'),
});

const CREDIT_REASON_MAX = 300;

/** Why an operator adds credit; shown with the transaction. */
export const CreditReason = reasonOf({
  max: CREDIT_REASON_MAX,
  tooLong: text('Reason is too long: at most 300 characters'),
}).pipe(z.string().min(3, text('Reason must be at least 3 characters')));

export const DisabledState = z
  .object({
    at: z.string(),
    reason: z.string().nullable(),
    /** The operator who did it; null when their account was deleted. */
    by: z.string().nullable(),
  })
  .nullable();
export type DisabledState = z.infer<typeof DisabledState>;
