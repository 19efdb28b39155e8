import { sql } from 'kysely';
import { archiveAllTokens } from '../apiTokens/archive.ts';
import { forgetBrowsers } from '../attempts/knownBrowsers.ts';
import type { Db } from '../db/schema.ts';
import { closeInvitesQuery } from '../invites/status.ts';
import { revokeOtherSessions } from '../sessions/sessions.ts';
import { removeAllKeys } from '../sshKeys/change.ts';

/**
 * The owner of an address signs in to an account that somebody created with it without confirming it. Removes every
 * credential and grant by which that person could come back. The caller has locked the row and signs the owner in.
 */
export async function resetUnverifiedAccount(trx: Db, userId: number): Promise<void> {
  await trx
    .updateTable('app_user')
    .set({ password_hash: null, email_verified_at: sql<Date>`now()` })
    .where('id', '=', userId)
    .execute();
  for (const table of ['email_change', 'totp', 'recovery_code', 'passkey', 'second_factor_ticket'] as const)
    await trx.deleteFrom(table).where('user_id', '=', userId).execute();
  await trx.deleteFrom('external_identity').where('user_id', '=', userId).execute();
  await trx.deleteFrom('password_reset').where('user_id', '=', userId).execute();
  await revokeOtherSessions(trx, userId, null, 'its address was not verified');
  await forgetBrowsers(trx, userId);
  await removeAllKeys(trx, userId);
  await archiveAllTokens(trx, userId);
  // Members and invites that they added go too.
  await closeInvitesQuery(trx, 'inviter').where('created_by', '=', userId).execute();
  await trx
    .deleteFrom('membership')
    .using('workspace')
    .whereRef('workspace.id', '=', 'membership.workspace_id')
    .where('workspace.personal_of', '=', userId)
    .where('membership.user_id', '<>', userId)
    .execute();
}
