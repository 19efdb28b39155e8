import { DELETED_USER } from '@stagi/contract/deletedUser.ts';
import { sql } from 'kysely';
import { rememberAddress } from '../billing/starterCredit.ts';
import { announce } from '../bus/bus.ts';
import type { Context } from '../context.ts';
import type { Db } from '../db/schema.ts';
import type { MailText } from '../mail/layout.ts';
import { sendMail } from '../mail/send.ts';
import { removeAllKeys } from '../sshKeys/change.ts';
import type { DeletionPreview } from './deletionPreview.ts';

const DELETED_WORKSPACE = 'Deleted workspace';

/**
 * Deletes a user's sessions, keys and other rows, closes the workspaces without other members, and anonymizes the user's
 * row, which the ledger and other records refer to. `deletion` was read under `lockMemberships`, and nothing in it was in
 * the way. Sends the mail, and `record`s the act in each workspace with other members.
 */
export async function removeAccount(
  ctx: Context,
  trx: Db,
  user: { id: number; email: string },
  { deletion, mail, record }: { deletion: DeletionPreview; mail: MailText; record(workspaceId: number): Promise<void> },
): Promise<void> {
  await removeAllKeys(trx, user.id);
  await closeWorkspaces(
    trx,
    deletion.closes.map(({ id }) => id),
  );
  await deleteOwnRows(trx, user.id);
  await trx.deleteFrom('idempotency').where('user_id', '=', user.id).execute();
  await trx.deleteFrom('pending_registration').where('email', '=', user.email).execute();
  await trx.deleteFrom('password_reset').where('email', '=', user.email).execute();
  await trx.deleteFrom('mail').where('recipient', '=', user.email).execute();
  await rememberAddress(ctx, trx, user.email);
  await anonymizeUser(trx, user.id);
  await sendMail(ctx, trx, user.email, mail);
  for (const { id } of deletion.leaves.toSorted((a, b) => a.id - b.id)) {
    await record(id);
    await announce(trx, 'changed', { entity: 'client', id, workspaceId: id });
  }
}

/** Blocks joining, leaving, renting and other deletions in the user's workspaces until the transaction ends. */
export async function lockMemberships(trx: Db, userId: number): Promise<void> {
  await trx.selectFrom('app_user').select('id').where('id', '=', userId).forUpdate().execute();
  await trx
    .selectFrom('workspace')
    .select('id')
    .where('id', 'in', (of) => of.selectFrom('membership').select('workspace_id').where('user_id', '=', userId))
    .orderBy('id')
    .forUpdate()
    .execute();
}

async function closeWorkspaces(trx: Db, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  await trx
    .updateTable('workspace')
    .set({ name: DELETED_WORKSPACE, personal_of: null, disabled_at: sql<Date>`now()`, deleted_at: sql<Date>`now()` })
    .where('id', 'in', ids)
    .execute();
  // Titles, commands and variables are personal data. The rows stay, as the ledger refers to them.
  await trx.updateTable('instance').set({ title: DELETED_WORKSPACE }).where('workspace_id', 'in', ids).execute();
  await trx
    .updateTable('project')
    .set({ title: DELETED_WORKSPACE, description: '' })
    .where('workspace_id', 'in', ids)
    .execute();
  await trx.updateTable('storage').set({ title: DELETED_WORKSPACE }).where('workspace_id', 'in', ids).execute();
  await trx
    .updateTable('container')
    .set({ title: DELETED_WORKSPACE, command: null, env_names: [], env_sealed: '' })
    .where('workspace_id', 'in', ids)
    .execute();
}

/** Deletes the rows of every table that references users with `on delete cascade` (migration 0011). */
async function deleteOwnRows(trx: Db, userId: number): Promise<void> {
  const { rows } = await sql<{ table: string; column: string }>`
    select held.relname as "table", att.attname as "column"
    from pg_constraint con
      join pg_class held on held.oid = con.conrelid
      join pg_attribute att on att.attrelid = con.conrelid and att.attnum = con.conkey[1]
    where con.contype = 'f' and con.confdeltype = 'c' and con.confrelid = 'app_user'::regclass
    order by 1, 2`.execute(trx);
  for (const { table, column } of rows)
    await sql`delete from ${sql.table(table)} where ${sql.ref(column)} = ${userId}`.execute(trx);
}

async function anonymizeUser(trx: Db, userId: number): Promise<void> {
  await trx
    .updateTable('app_user')
    .set({
      email: `deleted-${userId}@deleted.invalid`,
      name: DELETED_USER,
      password_hash: null,
      passkey_handle: null,
      image: null,
      language: null,
      theme: 'system',
      is_employee: false,
      has_test_mode: false,
      signup_form: null,
      getting_started_closed_at: null,
      log_seen_at: null,
      email_verified_at: null,
      disabled_at: sql<Date>`now()`,
      disabled_reason: null,
      disabled_by: null,
      deleted_at: sql<Date>`now()`,
    })
    .where('id', '=', userId)
    .execute();
}
