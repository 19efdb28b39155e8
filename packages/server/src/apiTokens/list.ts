import type { EntityFilterRequest } from '@stagi/contract/page.ts';
import { type Selectable, sql } from 'kysely';
import type { ApiTokenTable } from '../db/identityTables.ts';
import type { Db } from '../db/schema.ts';
import { contains, offsetOf, sortColumn } from '../http/paging.ts';

export type ApiTokenRow = Omit<Selectable<ApiTokenTable>, 'hash' | 'left_workspace_name'> & {
  workspace_name: string;
  is_expired: boolean;
};

const SORTABLE = {
  createdAt: 'api_token.created_at',
  description: 'api_token.description',
  expiresAt: 'api_token.expires_at',
  lastUsedAt: 'api_token.last_used_at',
} as const;

/** A user's tokens: the valid ones, or those that have ended (archived, expired, or of a workspace that they left). */
export async function listTokens(
  db: Db,
  userId: number,
  request: EntityFilterRequest,
  ended: boolean,
): Promise<{ rows: ApiTokenRow[]; count: number }> {
  const mine = tokensOf(db, userId, request).where(hasEnded, '=', ended);
  const direction = request.orderByDirection;
  const [rows, { count }] = await Promise.all([
    mine
      .select(TOKEN_COLUMNS)
      .select([workspaceName.as('workspace_name'), hasEnded.as('is_expired')])
      // Never used sorts as the oldest use, never expiring as the latest expiry.
      .orderBy(sortColumn(request, SORTABLE), (order) =>
        direction === 'asc'
          ? order.asc()[request.orderByField === 'lastUsedAt' ? 'nullsFirst' : 'nullsLast']()
          : order.desc()[request.orderByField === 'lastUsedAt' ? 'nullsLast' : 'nullsFirst'](),
      )
      .orderBy('api_token.id', direction)
      .limit(request.limit)
      .offset(offsetOf(request))
      .execute(),
    mine.select(sql<number>`count(*)::int`.as('count')).executeTakeFirstOrThrow(),
  ]);
  return { rows, count };
}

/** Whether a token is archived or expired. */
export const hasEnded = sql<boolean>`(api_token.archived_at is not null or coalesce(api_token.expires_at <= now(), false))`;

const TOKEN_COLUMNS = [
  'api_token.id',
  'api_token.user_id',
  'api_token.workspace_id',
  'api_token.description',
  'api_token.permissions',
  'api_token.expires_at',
  'api_token.last_used_at',
  'api_token.last_used_ip',
  'api_token.archived_at',
  'api_token.archived_by',
  'api_token.created_at',
] as const;

/** For a workspace that the user has left: its name at that time. */
const workspaceName = sql<string>`case when membership.user_id is null
  then coalesce(api_token.left_workspace_name, '') else workspace.name end`;

function tokensOf(db: Db, userId: number, { queryString }: EntityFilterRequest) {
  const mine = db
    .selectFrom('api_token')
    .innerJoin('workspace', 'workspace.id', 'api_token.workspace_id')
    .leftJoin('membership', (join) =>
      join
        .onRef('membership.workspace_id', '=', 'api_token.workspace_id')
        .onRef('membership.user_id', '=', 'api_token.user_id'),
    )
    .where('api_token.user_id', '=', userId);
  if (!queryString) return mine;
  // A leaked token can be looked up by its prefix.
  const found = /^stg_(\d{1,10})(?:_|$)/.exec(queryString)?.[1];
  return found
    ? mine.where(sql<boolean>`api_token.id = ${found}::bigint`)
    : mine.where(contains(['api_token.description', workspaceName], queryString));
}
