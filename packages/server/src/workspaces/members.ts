import type { EntityFilterRequest } from '@stagi/contract/page.ts';
import type { Role } from '@stagi/contract/permissions.ts';
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { COUNT_MAX, cappedPage, FOUND_COUNT_MAX } from '../http/cappedPage.ts';
import { type Bounds, pageOfFound } from '../http/foundPage.ts';
import { isId, sortColumn } from '../http/paging.ts';
import { beginsWith, isAddress, patternsOf, soughtIn } from '../http/search.ts';
import { listOf } from '../skipIndex/lists.ts';
import type { MemberRow } from './present.ts';

/** Names and addresses are those of the people (migration 0031). */
const SORTABLE = {
  createdAt: ['created_at'],
  name: ['name'],
  email: ['email'],
  roleName: ['role', 'created_at'],
} as const;

const MEMBERS = sql`membership`;

export async function listMembers(
  db: Db,
  workspaceId: number,
  request: EntityFilterRequest,
  roles: readonly Role[] = [],
  bounds?: Bounds,
): Promise<{ rows: MemberRow[]; count: number; isMore: boolean }> {
  const { queryString: text } = request;
  const where = sql<boolean>`membership.workspace_id = ${workspaceId}`;
  const sortedBy = sortColumn(request, SORTABLE);
  const list = {
    from: MEMBERS,
    where,
    id: sql<number>`membership.user_id`,
    order: sortedBy.map((column) => sql.ref(`membership.${column}`)),
  };
  const isOf = roles.length > 0 ? sql<boolean>`membership.role in (${sql.join(roles)})` : sql<boolean>`true`;
  const isCalled = text ? called(text) : sql<boolean>`true`;
  const byRole = { from: membersOfRoles(workspaceId, roles), where, leads: isOf, has: isCalled };
  const byText = text ? [{ ...byName(workspaceId, text, isOf), leads: isCalled }] : [];
  const { ids, ...total } =
    text || roles.length > 0
      ? await pageOfFound(
          db,
          {
            ...list,
            has: sql<boolean>`${isOf} and ${isCalled}`,
            sample: text && isAddress(text) ? null : sql`membership.created_at desc, membership.user_id desc`,
            skip: text ? skip(workspaceId, text, sortedBy[0]) : null,
            few: [...byText, ...(roles.length > 0 ? [byRole] : [])],
            countMax: text ? FOUND_COUNT_MAX : COUNT_MAX,
          },
          request,
          bounds,
        )
      : await cappedPage(db, list, request);
  const found = await membersOf(db, workspaceId)
    .where('membership.user_id', '=', sql<number>`any(${ids}::int[])`)
    .select(MEMBER)
    .execute();
  const rows = new Map(found.map((row) => [row.user_id, row]));
  return { rows: ids.flatMap((id) => rows.get(id) ?? []), ...total };
}

/** Words of a member's `search` begin behind a space, the first of a line too (migration 0031). */
const STARTS = [' '];
const patterns = (text: string) => patternsOf(text, STARTS);

const skip = (workspaceId: number, text: string, sortedBy: string) =>
  isAddress(text) ? null : soughtIn(listOf('membership', workspaceId), sortedBy, text, { starts: STARTS });

function called(text: string): RawBuilder<boolean> {
  if (isAddress(text)) return beginsWith('membership.email', text);
  return sql<boolean>`${sql.join(patterns(text).map((pattern) => sql`membership.search like ${pattern}`))}`;
}

/**
 * A policy comes before texts are compared, so that no index of memberships could be used for it: addresses are found
 * among all people's, words by a function of the database that looks into the workspace of the moment.
 */
function byName(workspaceId: number, text: string, isOf: RawBuilder<boolean>) {
  if (isAddress(text))
    return {
      from: () => sql`membership join app_user on app_user.id = membership.user_id`,
      where: sql<boolean>`membership.workspace_id = ${workspaceId} and ${isOf} and ${beginsWith('app_user.email', text)}`,
    };
  return {
    from: (limit: number) => sql`members_called(${sql.join(patterns(text))}, ${limit}) as membership`,
    where: sql<boolean>`true`,
    // After it, as the limit counts all whom the text leads to.
    has: isOf,
  };
}

/** Along the index of roles, one after the other: the planner takes them for as many as there are in all workspaces. */
function membersOfRoles(workspaceId: number, roles: readonly Role[]) {
  const each = (limit: number) =>
    [...new Set(roles)].map(
      (role) => sql`(select * from membership where workspace_id = ${workspaceId} and role = ${role}
        order by created_at, user_id limit ${limit})`,
    );
  return (limit: number) => sql`(${sql.join(each(limit), sql` union all `)}) as membership`;
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
