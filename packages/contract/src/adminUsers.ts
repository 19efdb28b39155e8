import { z } from 'zod';
import { AccountDeletionPreview } from './account.ts';
import { DisabledState, DisableReason } from './adminReason.ts';
import { call } from './call.ts';
import { Email } from './fields.ts';
import { LANGUAGES } from './languages.ts';
import { Id, ListInput, listOf, oneOf, SuccessResponse } from './page.ts';
import { ROLES } from './permissions.ts';
import { Plan } from './user.ts';

export const USER_STATES = ['active', 'disabled', 'deleted'] as const;

export const AdminUser = z.object({
  id: Id,
  name: z.string(),
  email: z.string(),
  image: z.string().nullable(),
  state: z.enum(USER_STATES),
  /** Whether the address was verified. */
  isVerified: z.boolean(),
  /** An operator of the platform. */
  isEmployee: z.boolean(),
  createdAt: z.string(),
  /** When any of their sessions was last used; null when no session is stored. */
  lastSeenAt: z.string().nullable(),
  disabled: DisabledState,
  /** Why the caller may not disable them. */
  hold: z.enum(['self', 'deleted']).nullable(),
});
export type AdminUser = z.infer<typeof AdminUser>;

export const AdminUserView = AdminUser.extend({
  language: z.enum(LANGUAGES).nullable(),
  /** `password`, `passkey` or the ids of identity providers. */
  signedInBy: z.array(z.string()),
  hasSecondFactor: z.boolean(),
  /** Active sessions, of browsers and apps, and API tokens that are neither archived nor expired. */
  sessions: z.number().int(),
  apiTokens: z.number().int(),
  lastSignInAt: z.string().nullable(),
  /** The first hundred of them. */
  workspaces: z.array(
    z.object({
      clientId: Id,
      clientName: z.string(),
      roleName: z.enum(ROLES),
      subscriptionPlan: Plan,
      isDisabled: z.boolean(),
      /** No other owner can sign in. */
      isOnlyOwner: z.boolean(),
      running: z.number().int(),
    }),
  ),
  workspaceCount: z.number().int(),
});
export type AdminUserView = z.infer<typeof AdminUserView>;

const OPERATOR = ['EMPLOYEE'] as const;

export const adminUsers = {
  list: call({
    path: 'admin/user/list',
    summary:
      'Everybody who has an account, found by name, address or id; texts of one or two characters are looked for at the beginning of words, and one with an @ within is the beginning of an address. At most 10,000 are counted, or 1,000 where many hold a text; isMore tells.',
    auth: OPERATOR,
    input: ListInput.extend({ verified: z.boolean().optional(), employee: z.boolean().optional() }),
    output: listOf(AdminUser),
  }),
  view: call({
    path: 'admin/user/view',
    summary: 'One account with its workspaces, sessions and tokens.',
    auth: OPERATOR,
    input: z.object({ id: Id }),
    output: oneOf(AdminUserView),
  }),
  disable: call({
    path: 'admin/user/disable',
    summary:
      'Disables an account at once: its sessions end, its API tokens and SSH keys do not work until it is enabled again. Its owner gets the reason by mail.',
    auth: OPERATOR,
    stepUp: true,
    input: z.object({ id: Id, reason: DisableReason }),
    output: oneOf(AdminUser),
  }),
  enable: call({
    path: 'admin/user/enable',
    summary: 'Enables an account again with everything it had; its owner must sign in again.',
    auth: OPERATOR,
    stepUp: true,
    input: z.object({ id: Id }),
    output: oneOf(AdminUser),
  }),
  deletion: call({
    path: 'admin/user/deletion',
    summary: 'What deleting an account would also delete, and what prevents it.',
    auth: OPERATOR,
    input: z.object({ id: Id }),
    output: AccountDeletionPreview,
  }),
  delete: call({
    path: 'admin/user/delete',
    summary:
      'Deletes an account permanently, as its owner could; its address must be typed. Its owner gets the reason by mail. Refused for operators.',
    auth: OPERATOR,
    stepUp: true,
    input: z.object({ id: Id, email: Email, reason: DisableReason }),
    output: SuccessResponse,
  }),
};
