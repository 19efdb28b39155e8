import { api } from '@stagi/contract/api.ts';
import { DELETED_USER } from '@stagi/contract/nobody.ts';
import { sql } from 'kysely';
import { recordAct } from '../audit/record.ts';
import type { Authenticated } from '../auth/authenticate.ts';
import { rememberAddress } from '../billing/accounts.ts';
import { announce } from '../bus/bus.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { invalid, refused } from '../http/errors.ts';
import type { Visitor } from '../http/visitor.ts';
import { accountDeletedMail } from '../mail/letters.ts';
import { sendMail } from '../mail/send.ts';
import { removeAllKeys } from '../sshKeys/change.ts';
import { deletionOf, type WholeDeletion } from './deletion.ts';

type SignedIn = Visitor & Pick<Authenticated, 'credential' | 'user'>;

const NOWHERE = 'Deleted workspace';

/**
 * Ends an account for good: sessions, keys and whatever else is the person's own are gone at once, workspaces of theirs
 * alone are closed, and the row that the ledger and others' records point to says nothing of them any more.
 */
export async function deleteAccount(ctx: SignedIn, { email }: { email: string }): Promise<void> {
  const { user } = ctx;
  if (email !== user.email) throw invalid('This is not the address of your account', 'email');
  await inTransaction(ctx.db, async (trx) => {
    await holdStill(trx, user.id);
    const deletion = await deletionOf(trx, user.id);
    refuseWhileNeeded(deletion);
    const closed = deletion.closes.map(({ id }) => id);
    await removeAllKeys(trx, user.id);
    await closeWorkspaces(trx, closed);
    await deleteWhatIsTheirs(trx, user.id);
    await trx.deleteFrom('idempotency').where('user_id', '=', user.id).execute();
    await trx.deleteFrom('pending_registration').where('email', '=', user.email).execute();
    await trx.deleteFrom('password_reset').where('email', '=', user.email).execute();
    await trx.deleteFrom('mail').where('recipient', '=', user.email).execute();
    await rememberAddress(ctx, trx, user.email);
    await forgetName(trx, user.id);
    await sendMail(ctx, trx, user.email, accountDeletedMail(ctx, user));
    await tellWhoStays(ctx, trx, deletion.leaves);
  });
  ctx.log.info({ userId: user.id }, 'an account was deleted');
}

/** Nobody joins, leaves, rents or deletes an account in these workspaces until the transaction ends. */
async function holdStill(trx: Db, userId: number): Promise<void> {
  await trx.selectFrom('app_user').select('id').where('id', '=', userId).forUpdate().execute();
  await trx
    .selectFrom('workspace')
    .select('id')
    .where('id', 'in', (of) => of.selectFrom('membership').select('workspace_id').where('user_id', '=', userId))
    .orderBy('id')
    .forUpdate()
    .execute();
}

function refuseWhileNeeded({ closes, leaves }: WholeDeletion): void {
  const orphaned = leaves.find(({ otherOwners }) => otherOwners === 0);
  if (orphaned) {
    throw refused('You are the last owner of “{{name}}”, which others belong to. Make somebody else its owner first.', {
      name: orphaned.name,
    });
  }
  const busy = closes.find(({ openInstances }) => openInstances > 0);
  if (busy) {
    throw refused('There are still servers in “{{name}}”. Terminate or delete them first.', { name: busy.name });
  }
}

async function closeWorkspaces(trx: Db, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  await trx
    .updateTable('workspace')
    .set({ name: NOWHERE, personal_of: null, disabled_at: sql<Date>`now()`, deleted_at: sql<Date>`now()` })
    .where('id', 'in', ids)
    .execute();
  // What they were called and run with is the person's own; that they ran is the ledger's.
  await trx.updateTable('instance').set({ title: NOWHERE }).where('workspace_id', 'in', ids).execute();
  await trx
    .updateTable('container')
    .set({ title: NOWHERE, command: null, env_names: [], env_sealed: '' })
    .where('workspace_id', 'in', ids)
    .execute();
}

/** Tables say by `on delete cascade` that their rows go with a person (migration 0011). */
async function deleteWhatIsTheirs(trx: Db, userId: number): Promise<void> {
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

/** Those they worked with read that they left, under the name that is left of them. */
async function tellWhoStays(ctx: SignedIn, trx: Db, left: WholeDeletion['leaves']): Promise<void> {
  for (const { id } of left.toSorted((a, b) => a.id - b.id)) {
    const object = { type: 'client/member', id: String(ctx.user.id) };
    await recordAct(trx, { ...ctx, workspace: { id } }, { action: api.account.delete.path, outcome: 'done', object });
    await announce(trx, 'changed', { entity: 'client', id, workspaceId: id });
  }
}

async function forgetName(trx: Db, userId: number): Promise<void> {
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
      email_verified_at: null,
      disabled_at: sql<Date>`now()`,
      deleted_at: sql<Date>`now()`,
    })
    .where('id', '=', userId)
    .execute();
}
