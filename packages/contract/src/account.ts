import { z } from 'zod';
import { call } from './call.ts';
import { Email, VerificationCode } from './fields.ts';
import { Id, SuccessResponse } from './page.ts';
import { Profile } from './user.ts';

const NamedWorkspace = z.object({ clientId: Id, clientName: z.string() });

/** What deleting the account also deletes, and what prevents it. */
export const AccountDeletionPreview = z.object({
  isSuccess: z.literal(true),
  /** Workspaces without other members: they are closed with the account, and their remaining balance is lost. */
  closes: z.array(
    NamedWorkspace.extend({
      balance: z.object({ currency: z.string(), decimalValue: z.string() }),
      /** Servers that still exist: they must be terminated or deleted first. */
      openInstances: z.number().int(),
      /** Storages that still exist: they must be deleted first. */
      openStorages: z.number().int(),
      /** The same for projects. */
      openProjects: z.number().int(),
    }),
  ),
  /** Workspaces with other members, which the person leaves. A last owner must first make somebody else owner. */
  leaves: z.array(NamedWorkspace.extend({ lastOwner: z.boolean() })),
  sshKeys: z.number().int(),
});
export type AccountDeletionPreview = z.infer<typeof AccountDeletionPreview>;

export const account = {
  changeEmail: call({
    path: 'auth/email/change-email',
    summary:
      'Mails an 8-digit code to a new address. The answer is the same for an address that has an account already.',
    auth: 'signed-in',
    stepUp: true,
    input: z.object({ newEmail: Email }),
    output: SuccessResponse,
  }),
  confirmNewEmail: call({
    path: 'auth/email/confirm-new-email',
    summary: 'Moves the account to the new address with the mailed code and ends every other session of it.',
    auth: 'signed-in',
    input: z.object({ code: VerificationCode }),
    output: Profile,
  }),
  deletion: call({
    path: 'user/deletion',
    summary: 'What deleting my account would also delete, and what prevents it.',
    auth: 'signed-in',
    input: z.object({}),
    output: AccountDeletionPreview,
  }),
  delete: call({
    path: 'user/delete',
    summary: 'Deletes my account permanently; its address must be typed. What the ledger needs is kept without a name.',
    auth: 'signed-in',
    stepUp: true,
    input: z.object({ email: Email }),
    output: SuccessResponse,
  }),
};
