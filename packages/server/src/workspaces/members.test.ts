import { api } from '@stagi/contract/api.ts';
import { ROLES, type Role } from '@stagi/contract/permissions.ts';
import { seeded } from '@stagi/contract/testing/random.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { byBytes, isCalled, searchText, somebody } from '../http/testing/peopleCalled.ts';
import { buildDue } from '../skipIndex/keep.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import type { Person } from '../testing/person.ts';
import { listMembers } from './members.ts';

const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);
const PEOPLE = 240;
const QUERIES = 120;
const EVERY = 1_000_000;
const SORTED = { sample: 1, met: 0, few: EVERY, late: EVERY, long: EVERY };
/** Each way that a page is found on; which of them is taken depends on how long a list is. */
const WAYS = {
  'looked through': { ...SORTED, sample: EVERY, few: 0 },
  'met along the order': { ...SORTED, met: EVERY, few: 0 },
  'skipped along': { ...SORTED, sample: 60, met: EVERY, few: 0, late: 0, long: 0 },
  'too many to be sorted': { ...SORTED, few: 5 },
  sorted: SORTED,
};

const random = seeded(SEED);

let app: TestApp;
let owner: Person;
let other: Person;
beforeAll(async () => {
  app = await startTestApp({}, { role: 'api' });
  [owner, other] = [await app.signUp('Olga Öz'), await app.signUp('Otto Other')];
  // What is skipped is known of two thirds of them, some of whom are called otherwise since.
  await fill(0, (PEOPLE * 2) / 3);
  await sql`analyze app_user, workspace, membership`.execute(app.ctx.db);
  expect(await buildDue(app.ctx, { least: 50, blocks: 30 })).toBe(true);
  const built = app.ctx.db.selectFrom('skip_index').select('id').where('workspace_id', '=', owner.workspaceId);
  expect(await built.execute()).toHaveLength(3);
  await sql`update app_user set name = 'Ada ' || name where id % 20 = 7`.execute(app.ctx.db);
  await fill((PEOPLE * 2) / 3, PEOPLE);
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
  it('are those that a naive filter finds, in the same order, however they are found', async () => {
    const all = await everybody();
    const db = app.ctx.within(owner.workspaceId);
    let found = 0;
    for (let n = 0; n < QUERIES; n += 1) {
      const { request, roles } = ask(all);
      const expected = naive(all, request, roles);
      const ids = expected.slice((request.page - 1) * request.limit, request.page * request.limit);
      for (const [way, bounds] of Object.entries(WAYS)) {
        const { rows, count, isMore } = await listMembers(db, owner.workspaceId, request, roles, bounds);
        const hint = `seed ${SEED}, query ${n}, ${way}: ${JSON.stringify({ request, roles })}`;
        expect(
          rows.map(({ user_id }) => user_id),
          hint,
        ).toEqual(ids.map(({ user_id }) => user_id));
        if (!isMore) expect(count, hint).toBe(expected.length);
        if (way === 'sorted') expect(isMore, hint).toBe(false);
      }
      found += ids.length;
    }
    console.log(`members: n = ${QUERIES} queries over ${all.length} people, ${found} found, seed ${SEED}`);
    expect(found).toBeGreaterThan(QUERIES / 4);
  });

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

  it('of another workspace are found by no index', async () => {
    const called = (pattern: string, workspaceId: number | null) =>
      sql<{ user_id: number }>`select user_id from members_called(${pattern}, 1000)`.execute(
        app.ctx.within(workspaceId),
      );
    expect((await called('% otto%', owner.workspaceId)).rows).toEqual([]);
    expect((await called('% otto%', other.workspaceId)).rows).toEqual([{ user_id: other.userId }]);
    await expect(called('%', null)).rejects.toMatchObject({ code: '42501' });
    // Nothing said: nobody.
    expect((await sql`select user_id from members_called('%', 1000)`.execute(app.ctx.db)).rows).toEqual([]);
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
    // Whatever is written into the copies by hand, they say what the person's row says.
    await sql`update membership set name = 'Somebody else' where user_id = ${member.userId}`.execute(app.ctx.db);
    expect(await stale()).toEqual([]);
  });

  it('are called as they call themselves who join while they change their name', async () => {
    const ROUNDS = 20;
    const member = await app.signUp('Nobody yet');
    for (let round = 0; round < ROUNDS; round += 1) {
      await app.ctx.db
        .deleteFrom('membership')
        .where('user_id', '=', member.userId)
        .where('workspace_id', 'in', [owner.workspaceId, other.workspaceId])
        .execute();
      await Promise.all([
        member.client(api.user.edit, { name: `Name ${round}` }),
        join(member, owner.workspaceId),
        app.ctx.db
          .updateTable('app_user')
          .set({ email: `r${round}-${member.userId}@example.com` })
          .where('id', '=', member.userId)
          .execute(),
        join(member, other.workspaceId),
      ]);
      expect(await stale(), `round ${round}`).toEqual([]);
    }
    console.log(`joins against changes of name: n = ${ROUNDS}`);
  });
});

async function join({ userId }: Person, ...workspaceIds: number[]): Promise<void> {
  for (const workspace_id of workspaceIds)
    await app.ctx.db.insertInto('membership').values({ workspace_id, user_id: userId, role: 'Guest' }).execute();
}

/** Copies that are not what they are copied from. */
async function stale(): Promise<object[]> {
  const { rows } = await sql<object>`
    select m.user_id, m.name, m.email from membership m join app_user u on u.id = m.user_id
    where (m.name, m.email) is distinct from (u.name, u.email)`.execute(app.ctx.db);
  return rows;
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
  const queryString = random() < 0.8 ? searchText(random, one) || undefined : undefined;
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
