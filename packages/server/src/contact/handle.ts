import type { api } from '@stagi/contract/api.ts';
import type { ParsedInputOf } from '@stagi/contract/call.ts';
import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { notFound } from '../http/errors.ts';
import { isId } from '../http/paging.ts';

/** Marks a request as handled or open. Who handled it first stays; a note that is left out stays as it is. */
export async function handleContactRequest(
  trx: Db,
  operatorId: number,
  { id, handled, note }: ParsedInputOf<typeof api.contact.handle>,
): Promise<void> {
  const { numUpdatedRows } = await trx
    .updateTable('contact_request')
    .set({
      handled_at: handled ? sql<Date>`coalesce(handled_at, now())` : null,
      handled_by: handled ? sql<number>`coalesce(handled_by, ${operatorId})` : null,
      ...(note !== undefined && { note }),
    })
    .where(isId('id', id))
    .executeTakeFirst();
  if (numUpdatedRows === 0n) throw notFound();
}
