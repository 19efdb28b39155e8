import { sql } from 'kysely';
import { archiveTokensOf } from '../apiTokens/archive.ts';
import type { Db } from '../db/schema.ts';
import { invitesToEnd } from '../invites/status.ts';
import { removeAllKeys } from '../sshKeys/change.ts';
import { forgetDevices } from './devices.ts';
import { endOtherSessions } from './sessions.ts';

/**
 * The owner of an address has come to an account that was made with it without showing that it is theirs: nothing that
 * whoever made it could come back with survives. The caller holds the row and shows the owner in.
 */
export async function dropUnverified(trx: Db, userId: number): Promise<void> {
  await trx
    .updateTable('app_user')
    .set({ password_hash: null, email_verified_at: sql<Date>`now()` })
    .where('id', '=', userId)
    .execute();
  for (const table of ['email_change', 'totp', 'recovery_code', 'passkey', 'second_factor_ticket'] as const)
    await trx.deleteFrom(table).where('user_id', '=', userId).execute();
  await trx.deleteFrom('external_identity').where('user_id', '=', userId).execute();
  await trx.deleteFrom('password_reset').where('user_id', '=', userId).execute();
  await endOtherSessions(trx, userId, null, 'its address was not verified');
  await forgetDevices(trx, userId);
  await removeAllKeys(trx, userId);
  await archiveTokensOf(trx, userId);
  // Nor does somebody whom they let in beside them, or asked in.
  await invitesToEnd(trx, 'inviter').where('created_by', '=', userId).execute();
  await trx
    .deleteFrom('membership')
    .using('workspace')
    .whereRef('workspace.id', '=', 'membership.workspace_id')
    .where('workspace.personal_of', '=', userId)
    .where('membership.user_id', '<>', userId)
    .execute();
}
