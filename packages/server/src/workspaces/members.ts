import type { EntityFilterRequest } from '@stagi/contract/page.ts';
import type { Role } from '@stagi/contract/permissions.ts';
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { cappedPage } from '../http/cappedPage.ts';
import { isId, sortColumn } from '../http/paging.ts';
import { searchesPeople } from '../http/search.ts';
import type { MemberRow } from './present.ts';

const SORTABLE = {
  createdAt: 'membership.created_at',
  name: 'app_user.name',
  email: 'app_user.email',
  roleName: 'membership.role',
} as const;

/** Only where they are asked for: a million of them are not looked up to be counted. */
const WITH_PEOPLE = sql`membership join app_user on app_user.id = membership.user_id`;

export async function listMembers(
  db: Db,
  workspaceId: number,
  request: EntityFilterRequest,
  roles: readonly Role[] | undefined,
): Promise<{ rows: MemberRow[]; count: number }> {
  const all: RawBuilder<boolean>[] = [sql`membership.workspace_id = ${workspaceId}`];
  if (roles && roles.length > 0) all.push(sql`membership.role in (${sql.join(roles)})`);
  const order = sortColumn(request, SORTABLE);
  const { ids, count } = await cappedPage(
    db,
    {
      from: request.queryString || order.startsWith('app_user.') ? WITH_PEOPLE : sql`membership`,
      where: sql<boolean>`${sql.join(all, sql` and `)}`,
      search: request.queryString ? searchesPeople('app_user', request.queryString) : null,
      id: sql`membership.user_id`,
      order: sql.ref(order),
    },
    request,
  );
  const found = await membersOf(db, workspaceId)
    .where('membership.user_id', '=', sql<number>`any(${ids}::int[])`)
    .select(MEMBER)
    .execute();
  const rows = new Map(found.map((row) => [row.user_id, row]));
  return { rows: ids.flatMap((id) => rows.get(id) ?? []), count };
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
