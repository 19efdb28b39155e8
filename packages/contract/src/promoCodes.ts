import { z } from 'zod';
import { call } from './call.ts';
import { Id, ListInput, listOf, oneOf } from './page.ts';
import { Money } from './price.ts';

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

/** As it is typed: spaces around it and the case of letters do not matter. */
const Code = z
  .string('Promo code is required')
  .trim()
  .toUpperCase()
  .min(1, 'Promo code is required')
  .max(40, 'Promo code is too long: at most 40 characters');

const AMOUNT_MOST = 1_000_000;
const USES_MOST = 1_000_000;

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
    summary:
      'Makes a promo code: an amount, until when, and for how many people. Without a code of one’s own it gets one.',
    auth: OPERATOR,
    input: z.object({
      code: Code.regex(
        /^[A-Z0-9]([A-Z0-9-]{2,38})[A-Z0-9]$/,
        'A promo code has 4 to 40 letters, digits and hyphens between them',
      ).optional(),
      amount: z
        .string('Amount is required')
        .trim()
        .min(1, 'Amount is required')
        .regex(/^\d{1,7}(\.\d{1,6})?$/, 'Amount must be a number')
        .refine((text) => /[1-9]/.test(text), 'Amount must be greater than 0')
        .refine((text) => Number(text.split('.')[0]) < AMOUNT_MOST, 'Amount must be below 1,000,000'),
      uses: z
        .number('Uses must be a number')
        .int('Uses must be a whole number')
        .min(1, 'Uses must be at least 1')
        .max(USES_MOST, 'Uses must be at most 1,000,000'),
      expiresAt: z.iso.datetime('Expiry is required'),
      note: z.string().trim().max(200, 'Note is too long: at most 200 characters').default(''),
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
    summary: 'Ends a promo code. What it has given stays given.',
    auth: OPERATOR,
    input: z.object({ id: Id }),
    output: oneOf(PromoCode),
  }),
};
