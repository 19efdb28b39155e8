import { z } from 'zod';
import { call } from './call.ts';
import { writtenText } from './fields.ts';
import { Id, ListInput, listOf, oneOf } from './page.ts';
import { Money } from './price.ts';
import { text } from './text.ts';

export const PROMO_STATUSES = ['open', 'used up', 'expired', 'revoked'] as const;
export type PromoStatus = (typeof PROMO_STATUSES)[number];

export const PromoCode = z.object({
  id: Id,
  code: z.string(),
  amount: Money,
  status: z.enum(PROMO_STATUSES),
  uses: z.number().int(),
  usesMax: z.number().int(),
  expiresAt: z.string(),
  note: z.string(),
  createdBy: z.object({ userId: Id, name: z.string(), email: z.string() }).nullable(),
  createdAt: z.string(),
  revokedAt: z.string().nullable(),
});
export type PromoCode = z.infer<typeof PromoCode>;

const OPERATOR = ['EMPLOYEE'] as const;

/** Surrounding spaces and case do not matter. */
const Code = z
  .string(text('Promo code is required'))
  .trim()
  .toUpperCase()
  .min(1, text('Promo code is required'))
  .max(40, text('Promo code is too long: at most 40 characters'));

const AMOUNT_MAX = 1_000_000;
const USES_MAX = 1_000_000;

export const promoCodes = {
  activate: call({
    path: 'promo-code/activate',
    summary: 'Adds the amount of a promo code to the balance of the workspace, once per person.',
    auth: ['BILLING'],
    input: z.object({ promoCode: Code }),
    output: z.object({ isSuccess: z.literal(true), amount: Money }),
  }),
  create: call({
    path: 'admin/promo-code/create',
    summary: 'Creates a promo code with an amount, an expiry and a number of uses. Without a `code` one is generated.',
    auth: OPERATOR,
    input: z.object({
      code: Code.regex(
        /^[A-Z0-9]([A-Z0-9-]{2,38})[A-Z0-9]$/,
        text('Use 4 to 40 letters and digits, with hyphens between them'),
      ).optional(),
      amount: z
        .string(text('Amount is required'))
        .trim()
        .min(1, text('Amount is required'))
        .regex(/^\d{1,7}(\.\d{1,6})?$/, text('Amount must be a number'))
        .refine((text) => /[1-9]/.test(text), text('Amount must be greater than 0'))
        .refine((text) => Number(text.split('.')[0]) < AMOUNT_MAX, text('Amount must be below 1,000,000')),
      uses: z
        .number(text('Uses must be a number'))
        .int(text('Uses must be a whole number'))
        .min(1, text('Uses must be at least 1'))
        .max(USES_MAX, text('Uses must be at most 1,000,000')),
      expiresAt: z.iso.datetime(text('Expiry is required')),
      note: writtenText.pipe(z.string().trim().max(200, text('Note is too long: at most 200 characters'))).default(''),
    }),
    output: oneOf(PromoCode),
  }),
  list: call({
    path: 'admin/promo-code/list',
    summary: 'Every promo code, newest first, with how often it was used.',
    auth: OPERATOR,
    input: ListInput,
    output: listOf(PromoCode),
  }),
  revoke: call({
    path: 'admin/promo-code/revoke',
    summary: 'Revokes a promo code. Amounts that were already added stay.',
    auth: OPERATOR,
    input: z.object({ id: Id }),
    output: oneOf(PromoCode),
  }),
};
