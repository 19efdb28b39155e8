import { api } from '@stagi/contract/api.ts';
import { DELETED_USER } from '@stagi/contract/deletedUser.ts';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import { recordAct } from '../audit/record.ts';
import { rememberAddress } from '../billing/starterCredit.ts';
import { announce } from '../bus/bus.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { invalid, refused } from '../http/errors.ts';
import type { Visitor } from '../http/visitor.ts';
import { accountDeletedMail } from '../mail/accountMails.ts';
import { sendMail } from '../mail/send.ts';
import type { Authenticated } from '../sessions/authenticate.ts';
import { removeAllKeys } from '../sshKeys/change.ts';
import { type DeletionPreview, previewDeletion } from './deletionPreview.ts';

type SignedIn = Visitor & Pick<Authenticated, 'credential' | 'user'>;

const DELETED_WORKSPACE = 'Deleted workspace';

/**
 * Deletes an account: its sessions, keys and other rows are deleted, workspaces without other members are closed, and
 * the user's row, which the ledger and other records refer to, is anonymized.
 */
export async function deleteAccount(ctx: SignedIn, { email }: { email: string }): Promise<void> {
  const { user } = ctx;
  if (email !== user.email) throw invalid(text('This is not the address of your account'), 'email');
  await inTransaction(ctx.db, async (trx) => {
    await lockMemberships(trx, user.id);
    const deletion = await previewDeletion(trx, user.id);
    refuseIfNeeded(deletion);
    const closed = deletion.closes.map(({ id }) => id);
    await removeAllKeys(trx, user.id);
    await closeWorkspaces(trx, closed);
    await deleteOwnRows(trx, user.id);
    await trx.deleteFrom('idempotency').where('user_id', '=', user.id).execute();
    await trx.deleteFrom('pending_registration').where('email', '=', user.email).execute();
    await trx.deleteFrom('password_reset').where('email', '=', user.email).execute();
    await trx.deleteFrom('mail').where('recipient', '=', user.email).execute();
    await rememberAddress(ctx, trx, user.email);
    await anonymizeUser(trx, user.id);
    await sendMail(ctx, trx, user.email, accountDeletedMail(ctx, user));
    await notifyRemainingMembers(ctx, trx, deletion.leaves);
  });
  ctx.log.info({ userId: user.id }, 'an account was deleted');
}

/** Blocks joining, leaving, renting and other deletions in the user's workspaces until the transaction ends. */
async function lockMemberships(trx: Db, userId: number): Promise<void> {
  await trx.selectFrom('app_user').select('id').where('id', '=', userId).forUpdate().execute();
  await trx
    .selectFrom('workspace')
    .select('id')
    .where('id', 'in', (of) => of.selectFrom('membership').select('workspace_id').where('user_id', '=', userId))
    .orderBy('id')
    .forUpdate()
    .execute();
}

function refuseIfNeeded({ closes, leaves }: DeletionPreview): void {
  const orphaned = leaves.find(({ otherOwners }) => otherOwners === 0);
  if (orphaned) {
    throw refused(
      text('You are the last owner of “{{name}}”, which has other members. Make somebody else an owner first.'),
      {
        name: orphaned.name,
      },
    );
  }
  const busy = closes.find(({ openInstances }) => openInstances > 0);
  if (busy) {
    throw refused(text('There are still servers in “{{name}}”. Terminate or delete them first.'), { name: busy.name });
  }
  const storing = closes.find(({ openStorages }) => openStorages > 0);
  if (storing)
    throw refused(text('There are still storages in “{{name}}”. Delete them first.'), { name: storing.name });
  const building = closes.find(({ openProjects }) => openProjects > 0);
  if (building)
    throw refused(text('There are still projects in “{{name}}”. Delete them first.'), { name: building.name });
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

/** Records in the audit logs of shared workspaces that a member, already anonymized, deleted their account. */
async function notifyRemainingMembers(ctx: SignedIn, trx: Db, left: DeletionPreview['leaves']): Promise<void> {
  for (const { id } of left.toSorted((a, b) => a.id - b.id)) {
    const object = { type: 'client/member', id: String(ctx.user.id) };
    await recordAct(trx, { ...ctx, workspace: { id } }, { action: api.account.delete.path, outcome: 'done', object });
    await announce(trx, 'changed', { entity: 'client', id, workspaceId: id });
  }
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
      deleted_at: sql<Date>`now()`,
    })
    .where('id', '=', userId)
    .execute();
}
