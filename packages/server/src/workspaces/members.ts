import type { EntityFilterRequest } from '@stagi/contract/page.ts';
import type { Role } from '@stagi/contract/permissions.ts';
import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { cappedPage } from '../http/cappedPage.ts';
import { isId, sortColumn } from '../http/paging.ts';
import { searchesPeople } from '../http/search.ts';
import { KEY_WORKS } from '../objects/keys.ts';
import type { MemberRow } from './present.ts';

const SORTABLE = {
  createdAt: ['membership.created_at'],
  name: ['app_user.name'],
  email: ['app_user.email'],
  roleName: ['membership.role', 'membership.created_at'],
} as const;

const MEMBERS = {
  from: sql`membership join app_user on app_user.id = membership.user_id`,
  id: sql<number>`membership.user_id`,
};

export async function listMembers(
  db: Db,
  workspaceId: number,
  request: EntityFilterRequest,
  roles: readonly Role[] = [],
): Promise<{ rows: MemberRow[]; count: number; isMore: boolean }> {
  const where = [sql<boolean>`membership.workspace_id = ${workspaceId}`, isMemberOf(workspaceId)];
  if (request.queryString) where.push(searchesPeople('app_user', request.queryString));
  if (roles.length > 0) where.push(sql<boolean>`membership.role in (${sql.join(roles)})`);
  const order = sortColumn(request, SORTABLE).map((column) => sql.ref(column));
  const { ids, ...total } = await cappedPage(db, { ...MEMBERS, where, order }, request);
  const found = await membersOf(db, workspaceId)
    .where('membership.user_id', '=', sql<number>`any(${ids}::int[])`)
    .select(MEMBER)
    .execute();
  const rows = new Map(found.map((row) => [row.user_id, row]));
  return { rows: ids.flatMap((id) => rows.get(id) ?? []), ...total };
}

/** As an array of ids PostgreSQL looks up the members alone; for a join it may read all users. */
const isMemberOf = (workspaceId: number) =>
  sql<boolean>`app_user.id = any(array(select user_id from membership where workspace_id = ${workspaceId}))`;

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

/** Keys of the web app end with the membership in any case. */
const keysAndLinks = sql<number>`(select count(*) from s3_key
  where s3_key.made_by = membership.user_id and s3_key.workspace_id = membership.workspace_id
    and s3_key.purpose in ('person', 'share') and ${KEY_WORKS})::integer`.as('keys_and_links');

const MEMBER = [
  'membership.user_id',
  'membership.role',
  'membership.created_at',
  'app_user.name',
  'app_user.email',
  'app_user.image',
  'app_user.language',
  isLastOwner,
  keysAndLinks,
] as const;
