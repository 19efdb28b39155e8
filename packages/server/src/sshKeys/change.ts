import type { SshKey, SshKeyType } from '@stagi/contract/sshKeys.ts';
import { text } from '@stagi/contract/text.ts';
import type { z } from 'zod';
import { announce } from '../bus/bus.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { invalid, notFound } from '../http/errors.ts';
import { isId } from '../http/paging.ts';
import { revokeKeyEverywhere } from '../instances/sshAccess.ts';
import { requireActiveAccount } from '../people/requireActiveAccount.ts';
import { generateKeyPair } from './generate.ts';
import { parsePublicKey } from './publicKey.ts';
import { presentKey } from './queries.ts';

interface Caller {
  db: Db;
  user: { id: number };
  memberships: readonly { id: number }[];
}

export async function addKey(
  ctx: Caller,
  input: { title: string; publicKey: string },
  generated = false,
): Promise<SshKey> {
  const key = parsePublicKey(input.publicKey);
  await requireActiveAccount(ctx.db, ctx.user.id);
  const row = await ctx.db
    .insertInto('ssh_key')
    .values({
      user_id: ctx.user.id,
      title: input.title,
      type: key.type,
      public_key: key.comment ? `${key.line} ${key.comment}` : key.line,
      fingerprint: key.fingerprint,
      generated,
    })
    .onConflict((conflict) => conflict.columns(['user_id', 'fingerprint']).doNothing())
    .returningAll()
    .executeTakeFirst();
  if (!row) throw invalid(text('This SSH key has already been added'), 'publicKey');
  await announceKeys(ctx.db, ctx);
  return presentKey({ ...row, instance_count: 0 });
}

/** Returns the private key, which is stored nowhere but in this request's encrypted answer (for retries). */
export async function generateKey(
  ctx: Caller,
  { title, type }: { title: string; type: z.infer<typeof SshKeyType> },
): Promise<{ entity: SshKey; privateKey: string }> {
  const { privateKey, publicKey } = await generateKeyPair(type, title);
  return { entity: await addKey(ctx, { title, publicKey }, true), privateKey };
}

/** Deletes a key of the caller and removes it from every server. */
export async function deleteKey(ctx: Caller, id: number): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const key = await trx
      .selectFrom('ssh_key')
      .selectAll()
      .where(isId('id', id))
      .where('user_id', '=', ctx.user.id)
      .forUpdate()
      .executeTakeFirst();
    if (!key) throw notFound();
    await revokeKeyEverywhere(trx, key, ctx.user.id);
    await trx.deleteFrom('ssh_key').where('id', '=', key.id).execute();
    await announceKeys(trx, ctx);
  });
}

/** Deletes all keys of a user whose account is deleted, and removes them from every server. */
export async function removeAllKeys(trx: Db, userId: number): Promise<void> {
  const keys = await trx
    .selectFrom('ssh_key')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('id')
    .forUpdate()
    .execute();
  for (const key of keys) await revokeKeyEverywhere(trx, key, userId);
  await trx.deleteFrom('ssh_key').where('user_id', '=', userId).execute();
}

async function announceKeys(db: Db, { memberships }: Caller): Promise<void> {
  for (const { id } of memberships) await announce(db, 'changed', { entity: 'ssh-key', id: null, workspaceId: id });
}
