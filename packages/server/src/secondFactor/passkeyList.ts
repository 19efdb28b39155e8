import type { EntityFilterRequest } from '@stagi/contract/page.ts';
import type { Passkey } from '@stagi/contract/secondFactor.ts';
import { type Selectable, sql } from 'kysely';
import type { PasskeyTable } from '../db/identityTables.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { notFound } from '../http/errors.ts';
import { contains, isId, offsetOf, sortColumn } from '../http/paging.ts';
import { passkeyRemovedMail } from '../mail/accountMails.ts';
import type { SignedIn } from '../sessions/authenticate.ts';
import { notifyOwner } from './notifyOwner.ts';
import { deleteCodesWithoutFactor } from './recoveryCodes.ts';

type Row = Selectable<PasskeyTable>;

const SORTABLE = { createdAt: 'created_at', name: 'name', lastUsedAt: 'last_used_at' } as const;

export async function listPasskeys(
  db: Db,
  userId: number,
  request: EntityFilterRequest,
): Promise<{ rows: Row[]; count: number }> {
  let mine = db.selectFrom('passkey').where('user_id', '=', userId);
  if (request.queryString) mine = mine.where(contains(['name'], request.queryString));
  const [rows, { count }] = await Promise.all([
    mine
      .selectAll()
      .orderBy(sortColumn(request, SORTABLE), request.orderByDirection)
      .orderBy('id', request.orderByDirection)
      .limit(request.limit)
      .offset(offsetOf(request))
      .execute(),
    mine.select(sql<number>`count(*)::int`.as('count')).executeTakeFirstOrThrow(),
  ]);
  return { rows, count };
}

export async function renamePasskey(ctx: SignedIn, { id, name }: { id: number; name: string }): Promise<Row> {
  const row = await ctx.db
    .updateTable('passkey')
    .set({ name })
    .where(isId('id', id))
    .where('user_id', '=', ctx.user.id)
    .returningAll()
    .executeTakeFirst();
  if (!row) throw notFound();
  return row;
}

export async function removePasskey(ctx: SignedIn, { id }: { id: number }): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const removed = await trx
      .deleteFrom('passkey')
      .where(isId('id', id))
      .where('user_id', '=', ctx.user.id)
      .returning('id')
      .executeTakeFirst();
    if (!removed) throw notFound();
    await deleteCodesWithoutFactor(trx, ctx.user.id);
    await notifyOwner(ctx, trx, passkeyRemovedMail);
  });
}

export function presentPasskey(row: Row): Passkey {
  return {
    id: row.id,
    name: row.name,
    synced: row.synced,
    createdAt: row.created_at.toISOString(),
    lastUsedAt: row.last_used_at?.toISOString() ?? null,
  };
}
