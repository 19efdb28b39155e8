import { ROLES } from '@stagi/contract/permissions.ts';
import { newSeed, seeded } from '@stagi/contract/testing/random.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { searchText } from '../app/testing/peopleCalled.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import type { Person } from '../testing/person.ts';
import { listMembers } from './members.ts';
import { addMembers, askedMembers, everyMember, type MemberRow } from './testing/manyMembers.ts';

const SEED = newSeed();
/** So many that half of them are more than a search sorts. */
const MANY = 2_400;
/** About half of all addresses have it. */
const FREQUENT = 'com';
const QUERIES = 120;
const COUNTED = 1_000;

const random = seeded(SEED);

let app: TestApp;
let owner: Person;
beforeAll(async () => {
  app = await startTestApp({}, { role: 'api' });
  owner = await app.signUp('Olga Öz');
});
afterAll(() => app?.close());

describe('the members of a workspace', () => {
  it('are those that a naive filter finds, in the same order', async () => {
    await addMembers(app.ctx.db, random, owner.workspaceId, MANY);
    const all = await everyMember(app.ctx.db, owner.workspaceId);
    const db = app.ctx.within(owner.workspaceId);
    let [found, uncounted] = [0, 0];
    for (let n = 0; n < QUERIES; n += 1) {
      const { request, roles } = ask(all);
      const expected = askedMembers(all, request, roles);
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
});

function ask(all: readonly MemberRow[]) {
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
