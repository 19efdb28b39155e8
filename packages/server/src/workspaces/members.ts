import type { EntityFilterRequest } from '@stagi/contract/page.ts';
import type { Role } from '@stagi/contract/permissions.ts';
import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { contains, isId, offsetOf, sortColumn } from '../http/paging.ts';
import type { MemberRow } from './present.ts';

const SORTABLE = {
  createdAt: 'membership.created_at',
  name: 'app_user.name',
  email: 'app_user.email',
  roleName: 'membership.role',
} as const;

export async function listMembers(
  db: Db,
  workspaceId: number,
  request: EntityFilterRequest,
  roles: readonly Role[] | undefined,
): Promise<{ rows: MemberRow[]; count: number }> {
  let some = membersOf(db, workspaceId);
  if (request.queryString) some = some.where(contains(['app_user.name', 'app_user.email'], request.queryString));
  if (roles && roles.length > 0) some = some.where('membership.role', 'in', roles);
  const [rows, { count }] = await Promise.all([
    some
      .select(MEMBER)
      .orderBy(sortColumn(request, SORTABLE), request.orderByDirection)
      .orderBy('membership.user_id', request.orderByDirection)
      .limit(request.limit)
      .offset(offsetOf(request))
      .execute(),
    some.select(sql<number>`count(*)::int`.as('count')).executeTakeFirstOrThrow(),
  ]);
  return { rows, count };
}

export function findMember(db: Db, workspaceId: number, userId: number): Promise<MemberRow | undefined> {
  return membersOf(db, workspaceId).where(isId('membership.user_id', userId)).select(MEMBER).executeTakeFirst();
}

function membersOf(db: Db, workspaceId: number) {
  return db
    .selectFrom('membership')
    .innerJoin('app_user', 'app_user.id', 'membership.user_id')
    .where('membership.workspace_id', '=', workspaceId);
}

/** Somebody who cannot sign in any more owns nothing in effect. */
const isLastOwner = sql<boolean>`membership.role = 'Owner' and not exists (
  select 1 from membership other join app_user owner on owner.id = other.user_id
  where other.workspace_id = membership.workspace_id and other.user_id <> membership.user_id
    and other.role = 'Owner' and owner.disabled_at is null)`.as('is_last_owner');

const MEMBER = [
  'membership.user_id',
  'membership.role',
  'membership.created_at',
  'app_user.name',
  'app_user.email',
  'app_user.image',
  'app_user.language',
  isLastOwner,
] as const;
