import type { EntityFilterRequest } from '@stagi/contract/page.ts';
import type { Session } from '@stagi/contract/sessions.ts';
import { type Selectable, sql } from 'kysely';
import type { Db, SessionTable } from '../db/schema.ts';
import { contains, offsetOf, sortColumn } from '../http/paging.ts';
import { deviceOf } from './device.ts';

const SORTABLE = { createdAt: 'created_at', lastUsedAt: 'last_used_at', ip: 'ip' } as const;

/** Sessions that can still be used: neither ended nor past their day, with a refresh token that has not idled away. */
export async function listSessions(
  db: Db,
  { userId, currentId }: { userId: number; currentId: string },
  request: EntityFilterRequest,
): Promise<{ rows: Selectable<SessionTable>[]; count: number }> {
  let mine = db
    .selectFrom('session')
    .where('user_id', '=', userId)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', sql<Date>`now()`)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('refresh_token')
          .select('refresh_token.id')
          .whereRef('refresh_token.session_id', '=', 'session.id')
          .where('refresh_token.used_at', 'is', null)
          .where('refresh_token.expires_at', '>', sql<Date>`now()`),
      ),
    );
  if (request.queryString) mine = mine.where(contains(['ip', 'user_agent'], request.queryString));
  const column = sortColumn(request, SORTABLE);
  const [rows, { count }] = await Promise.all([
    mine
      .selectAll()
      // The one that asks is in use now, though its tokens are some minutes old.
      .$if(column === 'last_used_at', (query) =>
        query.orderBy(sql<boolean>`id = ${currentId}::uuid`, request.orderByDirection),
      )
      .orderBy(column, request.orderByDirection)
      .orderBy('id', request.orderByDirection)
      .limit(request.limit)
      .offset(offsetOf(request))
      .execute(),
    mine.select(sql<number>`count(*)::int`.as('count')).executeTakeFirstOrThrow(),
  ]);
  return { rows, count };
}

export function presentSession(row: Selectable<SessionTable>, currentId: string): Session {
  return {
    id: row.id,
    device: deviceOf(row.user_agent),
    ip: row.ip,
    authType: row.auth_type,
    createdAt: row.created_at.toISOString(),
    lastUsedAt: row.last_used_at.toISOString(),
    current: row.id === currentId,
  };
}
