import { api } from '@stagi/contract/api.ts';
import { ROLES, type Role } from '@stagi/contract/permissions.ts';
import { seeded } from '@stagi/contract/testing/random.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { byBytes, isCalled, searchText, somebody } from '../app/testing/peopleCalled.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import type { Person } from '../testing/person.ts';
import { listMembers } from './members.ts';

const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);
const FEW = 240;
/** So many that half of them are more than a search sorts. */
const MANY = 2_400;
/** About half of all addresses have it. */
const FREQUENT = 'com';
const QUERIES = 120;
const COUNTED = 1_000;

const random = seeded(SEED);

let app: TestApp;
let owner: Person;
let other: Person;
beforeAll(async () => {
  app = await startTestApp({}, { role: 'api' });
  [owner, other] = [await app.signUp('Olga Öz'), await app.signUp('Otto Other')];
  await fill(0, FEW);
});
afterAll(() => app?.close());

interface Row {
  user_id: number;
  name: string;
  email: string;
  role: Role;
  created_at: Date;
}

describe('the members of a workspace', () => {
  it('are shown once, page after page, however they are sorted', async () => {
    const all = await everybody();
    for (const orderByField of ['createdAt', 'name', 'email', 'roleName'])
      for (const orderByDirection of ['asc', 'desc'] as const) {
        const seen: number[] = [];
        for (let page = 1, pages = 1; page <= pages; page += 1) {
          const request = { orderByField, orderByDirection, page, limit: 100 };
          const { entities, totalPages } = await owner.client(api.clients.members, { entityFilterRequest: request });
          seen.push(...entities.map(({ userId }) => userId));
          pages = totalPages;
        }
        const expected = naive(all, { orderByField, orderByDirection }, []);
        expect(seen, orderByField).toEqual(expected.map(({ user_id }) => user_id));
      }
  });

  it('are those that a naive filter finds, in the same order', async () => {
    await fill(FEW, MANY);
    const all = await everybody();
    const db = app.ctx.within(owner.workspaceId);
    let [found, uncounted] = [0, 0];
    for (let n = 0; n < QUERIES; n += 1) {
      const { request, roles } = ask(all);
      const expected = naive(all, request, roles);
      const ids = expected.slice((request.page - 1) * request.limit, request.page * request.limit);
      const { rows, ...total } = await listMembers(db, owner.workspaceId, request, roles);
      const hint = `seed ${SEED}, query ${n}: ${JSON.stringify({ request, roles })}`;
      expect(
        rows.map(({ user_id }) => user_id),
        hint,
      ).toEqual(ids.map(({ user_id }) => user_id));
      const isMore = request.queryString !== undefined && expected.length > COUNTED;
      expect(total, hint).toEqual({ count: isMore ? COUNTED : expected.length, isMore });
      found += ids.length;
      if (isMore) uncounted += 1;
    }
    console.log(
      `members: n = ${QUERIES} queries over ${all.length} people, ${found} found, ${uncounted} of too many to count, seed ${SEED}`,
    );
    expect(found).toBeGreaterThan(QUERIES / 4);
    expect(uncounted).toBeGreaterThan(0);
  });

  it('of another workspace are found by no search', async () => {
    const request = { queryString: 'otto', orderByField: 'name', orderByDirection: 'asc' as const, page: 1, limit: 10 };
    const found = async (workspaceId: number | null) =>
      (await listMembers(app.ctx.within(workspaceId), other.workspaceId, request)).rows.map(({ user_id }) => user_id);
    expect(await found(owner.workspaceId)).toEqual([]);
    expect(await found(other.workspaceId)).toEqual([other.userId]);
    await expect(found(null)).rejects.toMatchObject({ code: '42501' });
  });

  it('are called as they call themselves from the same moment on', async () => {
    const member = await app.signUp('Before');
    await join(member, owner.workspaceId, other.workspaceId);
    await member.client(api.user.edit, { name: 'Ünal Yılmaz' });
    const moved = `moved-${member.userId}@example.com`;
    await app.ctx.db.updateTable('app_user').set({ email: moved }).where('id', '=', member.userId).execute();
    for (const workspace of [owner, other]) {
      const list = async (queryString: string) =>
        (await workspace.client(api.clients.members, { entityFilterRequest: { queryString } })).entities;
      expect(await list('ünal yı')).toMatchObject([{ userId: member.userId, name: 'Ünal Yılmaz', email: moved }]);
      expect(await list(moved)).toMatchObject([{ userId: member.userId }]);
      expect(await list('Before')).toEqual([]);
    }
  });
});

async function join({ userId }: Person, ...workspaceIds: number[]): Promise<void> {
  for (const workspace_id of workspaceIds)
    await app.ctx.db.insertInto('membership').values({ workspace_id, user_id: userId, role: 'Guest' }).execute();
}

async function everybody(): Promise<Row[]> {
  return app.ctx.db
    .selectFrom('membership')
    .innerJoin('app_user', 'app_user.id', 'membership.user_id')
    .select(['user_id', 'app_user.name', 'app_user.email', 'role', 'membership.created_at'])
    .where('workspace_id', '=', owner.workspaceId)
    .execute();
}

function ask(all: readonly Row[]) {
  const one = random.pick(all);
  const roles = random() < 0.4 ? [random.pick(ROLES), random.pick(ROLES)] : [];
  const text = random() < 0.2 ? FREQUENT : searchText(random, one);
  const queryString = random() < 0.8 ? text || undefined : undefined;
  return {
    request: {
      queryString,
      orderByField: random.pick(['createdAt', 'name', 'email', 'roleName']),
      orderByDirection: random.pick(['asc', 'desc'] as const),
      page: random() < 0.8 ? 1 : 2,
      limit: random.pick([10, 25, 100]),
    },
    roles,
  };
}

interface Asked {
  queryString?: string;
  orderByField: string;
  orderByDirection: 'asc' | 'desc';
}

/** What is asked for, in the plainest words. */
function naive(
  all: readonly Row[],
  { queryString, orderByField, orderByDirection }: Asked,
  roles: readonly Role[],
): Row[] {
  const keys = {
    createdAt: (row: Row) => [row.created_at.toISOString()],
    name: (row: Row) => [row.name],
    email: (row: Row) => [row.email],
    roleName: (row: Row) => [row.role, row.created_at.toISOString()],
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

async function fill(from: number, to: number): Promise<void> {
  const called = Array.from({ length: to - from }, (_, n) => somebody(random, from + n));
  const people = await app.ctx.db
    .insertInto('app_user')
    .values(called.map(({ name, email }) => ({ name, email })))
    .returning(['id', 'email'])
    .execute();
  const joined = new Map(called.map(({ email, created_at }) => [email, created_at]));
  await app.ctx.db
    .insertInto('membership')
    .values(
      people.map(({ id, email }) => ({
        workspace_id: owner.workspaceId,
        user_id: id,
        role: random.pick(ROLES),
        created_at: joined.get(email)!,
      })),
    )
    .execute();
}
