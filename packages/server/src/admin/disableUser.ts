import type { AdminUser } from '@stagi/contract/adminUsers.ts';
import { api } from '@stagi/contract/api.ts';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import { recordForWorkspace } from '../audit/recordForWorkspace.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { refused } from '../http/errors.ts';
import { resyncAuthorizedKeys } from '../instances/sshAccess.ts';
import { accountDisabledMail, accountEnabledMail } from '../mail/operatorMails.ts';
import { sendMail } from '../mail/send.ts';
import { lockUser, type Operator } from '../people/lockedByOperator.ts';
import { revokeOtherSessions } from '../sessions/sessions.ts';
import { userOf } from './users.ts';

/**
 * Disables an account: ends its sessions and revokes its SSH keys on servers. Triggers end its open streams (migration
 * 0008). Its workspaces go on, as others may be in them and something may be running there.
 */
export function disableUser(ctx: Operator, { id, reason }: { id: number; reason: string }): Promise<AdminUser> {
  return inTransaction(ctx.db, async (trx) => {
    const user = await lockUser(trx, ctx.user.id, id);
    if (user.id === ctx.user.id) throw refused(text('You cannot disable your own account'));
    if (user.deleted_at) throw refused(text('This account has been deleted'));
    if (user.disabled_at) throw refused(text('This account is already disabled'));
    await trx
      .updateTable('app_user')
      .set({ disabled_at: sql<Date>`clock_timestamp()`, disabled_reason: reason, disabled_by: ctx.user.id })
      .where('id', '=', user.id)
      .execute();
    await revokeOtherSessions(trx, user.id, null, 'disabled by an operator');
    await resyncAuthorizedKeys(trx, { userId: user.id });
    await sendMail(ctx, trx, user.email, accountDisabledMail(ctx, user, reason));
    await recordInWorkspaces(trx, api.adminUsers.disable.path, user);
    return userOf(trx, user.id, ctx.user.id);
  });
}

/** Enables an account again, with the tokens, keys and memberships that it had. */
export function enableUser(ctx: Operator, id: number): Promise<AdminUser> {
  return inTransaction(ctx.db, async (trx) => {
    const user = await lockUser(trx, ctx.user.id, id);
    if (user.deleted_at) throw refused(text('This account has been deleted'));
    if (!user.disabled_at) throw refused(text('This account is not disabled'));
    await trx
      .updateTable('app_user')
      .set({ disabled_at: null, disabled_reason: null, disabled_by: null })
      .where('id', '=', user.id)
      .execute();
    await resyncAuthorizedKeys(trx, { userId: user.id });
    await sendMail(ctx, trx, user.email, accountEnabledMail(ctx, user));
    await recordInWorkspaces(trx, api.adminUsers.enable.path, user);
    return userOf(trx, user.id, ctx.user.id);
  });
}

/** Other members see in the audit log that an operator did it, not which one and why. */
async function recordInWorkspaces(trx: Db, action: string, user: { id: number; name: string }): Promise<void> {
  const rows = await trx
    .selectFrom('membership')
    .select('workspace_id')
    .where('user_id', '=', user.id)
    .orderBy('workspace_id')
    .execute();
  const object = { type: 'client/member', id: String(user.id), label: user.name };
  for (const { workspace_id: id } of rows) await recordForWorkspace(trx, id, { action, object });
}
