import type { EntityFilterRequest } from '@stagi/contract/page.ts';
import type { Session } from '@stagi/contract/sessions.ts';
import { type Selectable, sql } from 'kysely';
import type { SessionTable } from '../db/identityTables.ts';
import type { Db } from '../db/schema.ts';
import { contains, offsetOf, sortColumn } from '../http/paging.ts';
import { deviceOf } from '../http/userAgent.ts';
import { liveSessionsOf } from './sessions.ts';

const SORTABLE = { createdAt: 'created_at', lastUsedAt: 'last_used_at', ip: 'ip' } as const;

/** The user's signed-in browsers; sessions of apps are not among them. */
export async function listSessions(
  db: Db,
  { userId, currentId }: { userId: number; currentId: string },
  request: EntityFilterRequest,
): Promise<{ rows: Selectable<SessionTable>[]; count: number }> {
  let mine = liveSessionsOf(db, userId).where('session.app_id', 'is', null);
  if (request.queryString) mine = mine.where(contains(['ip', 'user_agent'], request.queryString));
  const column = sortColumn(request, SORTABLE);
  const [rows, { count }] = await Promise.all([
    mine
      .selectAll()
      // The current session is in use now, though its tokens were renewed some minutes ago.
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
