import { z } from 'zod';
import { call } from './call.ts';
import { writtenText } from './fields.ts';
import { Id, ListInput, listOf, oneOf } from './page.ts';
import { InviteCode } from './signUpRules.ts';
import { text } from './text.ts';

export const SIGN_UP_LINK_STATUSES = ['open', 'used up', 'expired', 'revoked'] as const;
export type SignUpLinkStatus = (typeof SIGN_UP_LINK_STATUSES)[number];

export const SIGN_UP_LINK_DAYS_MAX = 90;
export const SIGN_UP_LINK_USES_MAX = 1_000;

/** With it people may make accounts where not everybody may. */
export const SignUpLink = z.object({
  id: Id,
  /** Operators alone see it. */
  note: z.string(),
  status: z.enum(SIGN_UP_LINK_STATUSES),
  /** People who have signed up with it; `usesMax` may at most. */
  used: z.number().int(),
  usesMax: z.number().int(),
  expiresAt: z.string(),
  /** `null`: made at the command line. */
  createdBy: z.object({ userId: Id, name: z.string(), email: z.string() }).nullable(),
  createdAt: z.string(),
  revokedAt: z.string().nullable(),
});
export type SignUpLink = z.infer<typeof SignUpLink>;

const OPERATOR = ['EMPLOYEE'] as const;

export const signUpLinks = {
  view: call({
    path: 'sign-up-link/view',
    summary:
      'Tells that the code of a sign-up link, or of the join link of a workspace, lets somebody sign up here. Any other gets the same refusal.',
    auth: 'public',
    input: z.object({ invite: InviteCode }),
    output: z.object({ isSuccess: z.literal(true), expiresAt: z.string() }),
  }),
  create: call({
    path: 'admin/sign-up-link/create',
    summary: 'Creates a link that people sign up with where not everybody may. Only this answer contains the link.',
    auth: OPERATOR,
    input: z.object({
      note: writtenText.pipe(z.string().trim().max(200, text('Note is too long: at most 200 characters'))).default(''),
      uses: z
        .number(text('Enter a number'))
        .int(text('Enter a whole number'))
        .min(1, text('At least one person'))
        .max(SIGN_UP_LINK_USES_MAX, text('At most 1,000 people')),
      expiresAt: z.iso.datetime({ offset: true, error: text('Enter a valid date') }),
    }),
    output: oneOf(SignUpLink).extend({ link: z.string() }),
  }),
  list: call({
    path: 'admin/sign-up-link/list',
    summary: 'Every sign-up link, newest first, with how many people used it.',
    auth: OPERATOR,
    input: ListInput,
    output: listOf(SignUpLink),
  }),
  revoke: call({
    path: 'admin/sign-up-link/revoke',
    summary: 'Revokes a sign-up link at once. Accounts that were made with it stay.',
    auth: OPERATOR,
    input: z.object({ id: Id }),
    output: oneOf(SignUpLink),
  }),
};
