import type { AdminUser } from '@stagi/contract/adminUsers.ts';
import { api } from '@stagi/contract/api.ts';
import { sql } from 'kysely';
import { endOtherSessions } from '../auth/sessions.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { refused } from '../http/errors.ts';
import { tellServersOfKeys } from '../instances/sshAccess.ts';
import { accountDisabledMail, accountEnabledMail } from '../mail/operatorLetters.ts';
import { sendMail } from '../mail/send.ts';
import { holdUser, type Operator } from './operator.ts';
import { tellWorkspace } from './tellWorkspace.ts';
import { userOf } from './users.ts';

/**
 * Shuts somebody out. Open streams end by the database itself (migration 0008), and servers take their keys off as soon
 * as they are told. Their workspaces go on: others may be in them, and what runs there is somebody's work.
 */
export function disableUser(ctx: Operator, { id, reason }: { id: number; reason: string }): Promise<AdminUser> {
  return inTransaction(ctx.db, async (trx) => {
    const user = await holdUser(trx, ctx.user.id, id);
    if (user.id === ctx.user.id) throw refused('You cannot disable your own account');
    if (user.deleted_at) throw refused('This account has been deleted');
    if (user.disabled_at) throw refused('This account is disabled already');
    await trx
      .updateTable('app_user')
      .set({ disabled_at: sql<Date>`clock_timestamp()`, disabled_reason: reason, disabled_by: ctx.user.id })
      .where('id', '=', user.id)
      .execute();
    await endOtherSessions(trx, user.id, null, 'disabled by an operator');
    await tellServersOfKeys(trx, user.id);
    await sendMail(ctx, trx, user.email, accountDisabledMail(ctx, user, reason));
    await recordInWorkspaces(trx, api.adminUsers.disable.path, user);
    return userOf(trx, user.id, ctx.user.id);
  });
}

/** Lets somebody in again, with the tokens, keys and memberships that they had. */
export function enableUser(ctx: Operator, id: number): Promise<AdminUser> {
  return inTransaction(ctx.db, async (trx) => {
    const user = await holdUser(trx, ctx.user.id, id);
    if (user.deleted_at) throw refused('This account has been deleted');
    if (!user.disabled_at) throw refused('This account is not disabled');
    await trx
      .updateTable('app_user')
      .set({ disabled_at: null, disabled_reason: null, disabled_by: null })
      .where('id', '=', user.id)
      .execute();
    await tellServersOfKeys(trx, user.id);
    await sendMail(ctx, trx, user.email, accountEnabledMail(ctx, user));
    await recordInWorkspaces(trx, api.adminUsers.enable.path, user);
    return userOf(trx, user.id, ctx.user.id);
  });
}

/** Those they work with read that it was an operator, not who and why. */
async function recordInWorkspaces(trx: Db, action: string, user: { id: number; name: string }): Promise<void> {
  const rows = await trx
    .selectFrom('membership')
    .select('workspace_id')
    .where('user_id', '=', user.id)
    .orderBy('workspace_id')
    .execute();
  const object = { type: 'client/member', id: String(user.id), label: user.name };
  for (const { workspace_id: id } of rows) await tellWorkspace(trx, id, { action, object });
}
