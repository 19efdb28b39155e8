import { ROLES, type Role } from '@stagi/contract/permissions.ts';
import type { Random } from '@stagi/contract/testing/random.ts';
import { byBytes, isCalled, somebody } from '../../app/testing/peopleCalled.ts';
import type { Db } from '../../db/schema.ts';

export interface MemberRow {
  user_id: number;
  name: string;
  email: string;
  role: Role;
  created_at: Date;
}

interface Asked {
  queryString?: string;
  orderByField: string;
  orderByDirection: 'asc' | 'desc';
}

/** The members that are asked for, in the plainest words. */
export function askedMembers(
  all: readonly MemberRow[],
  { queryString, orderByField, orderByDirection }: Asked,
  roles: readonly Role[],
): MemberRow[] {
  const keys = {
    createdAt: (row: MemberRow) => [row.created_at.toISOString()],
    name: (row: MemberRow) => [row.name],
    email: (row: MemberRow) => [row.email],
    roleName: (row: MemberRow) => [row.role, row.created_at.toISOString()],
  }[orderByField as 'name']!;
  const up = orderByDirection === 'asc' ? 1 : -1;
  return all
    .filter((row) => !queryString || isCalled(row, queryString))
    .filter(({ role }) => roles.length === 0 || roles.includes(role))
    .toSorted((a, b) => {
      const difference = keys(a)
        .map((key, at) => byBytes(key, keys(b)[at]!))
        .find((one) => one !== 0);
      return up * (difference ?? a.user_id - b.user_id);
    });
}

export async function everyMember(db: Db, workspaceId: number): Promise<MemberRow[]> {
  return db
    .selectFrom('membership')
    .innerJoin('app_user', 'app_user.id', 'membership.user_id')
    .select(['user_id', 'app_user.name', 'app_user.email', 'role', 'membership.created_at'])
    .where('workspace_id', '=', workspaceId)
    .execute();
}

/** Has so many people join a workspace. */
export async function addMembers(db: Db, random: Random, workspaceId: number, count: number): Promise<void> {
  const called = Array.from({ length: count }, (_, n) => somebody(random, n));
  const people = await db
    .insertInto('app_user')
    .values(called.map(({ name, email }) => ({ name, email })))
    .returning(['id', 'email'])
    .execute();
  const joined = new Map(called.map(({ email, created_at }) => [email, created_at]));
  await db
    .insertInto('membership')
    .values(
      people.map(({ id, email }) => ({
        workspace_id: workspaceId,
        user_id: id,
        role: random.pick(ROLES),
        created_at: joined.get(email)!,
      })),
    )
    .execute();
}
