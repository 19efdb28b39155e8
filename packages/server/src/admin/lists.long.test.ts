import { api } from '@stagi/contract/api.ts';
import type { InputOf } from '@stagi/contract/call.ts';
import { newSeed, seeded } from '@stagi/contract/testing/random.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { byBytes, isCalled, searchText } from '../app/testing/peopleCalled.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { makeOperator, markSteppedUp } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';
import { addUsers, everyUser, type UserRow } from './testing/manyUsers.ts';

const SEED = newSeed();
/** So many that half of them are more than a search sorts. */
const MANY = 2_400;
/** About half of all addresses have it. */
const FREQUENT = 'com';
const QUERIES = 150;
const COUNTED = 1_000;

const random = seeded(SEED);

let app: TestApp;
let operator: Person;
beforeAll(async () => {
  app = await startTestApp();
  operator = await app.signUp('Olga Operator');
  await makeOperator(app.ctx, operator);
  await markSteppedUp(app.ctx, operator);
});
afterAll(() => app?.close());

type Asked = InputOf<typeof api.adminUsers.list>;
type Request = { queryString?: string; page: number; limit: number };

describe('the list of users', () => {
  it('finds what a naive filter finds, in the same order', async () => {
    await addUsers(app.ctx.db, random, MANY);
    const all = await everyUser(app.ctx.db);
    let [found, uncounted] = [0, 0];
    for (let n = 0; n < QUERIES; n += 1) {
      const asked = ask(all);
      const expected = naive(all, asked);
      const { entities, totalCount, isMore } = await operator.client(api.adminUsers.list, asked);
      const hint = `seed ${SEED}, query ${n}: ${JSON.stringify(asked)}`;
      const { queryString, page, limit } = asked.entityFilterRequest as Request;
      const isTooMany = queryString?.trim() ? expected.length > COUNTED : false;
      expect([totalCount, isMore === true], hint).toEqual([isTooMany ? COUNTED : expected.length, isTooMany]);
      expect(
        entities.map(({ id }) => id),
        hint,
      ).toEqual(expected.slice((page - 1) * limit, page * limit).map(({ id }) => id));
      found += entities.length;
      if (isTooMany) uncounted += 1;
    }
    console.log(
      `admin lists: n = ${QUERIES} queries over ${all.length} people, ${found} rows found, ${uncounted} of too many to count, seed ${SEED}`,
    );
    expect(found).toBeGreaterThan(QUERIES / 4);
    expect(uncounted).toBeGreaterThan(0);
  });
});

function ask(all: readonly UserRow[]): Asked {
  const one = random.pick(all);
  const text = random() < 0.2 ? FREQUENT : searchText(random, one, String(one.id));
  const queryString = random() < 0.85 ? random.pick([text, ` ${text} `]) : undefined;
  return {
    entityFilterRequest: {
      queryString,
      statuses: random() < 0.3 ? [random.pick(['active', 'disabled', 'deleted'])] : undefined,
      orderByField: random.pick(['createdAt', 'name', 'email']),
      orderByDirection: random.pick(['asc', 'desc'] as const),
      page: random() < 0.8 ? 1 : 2,
      limit: random.pick([10, 25, 100]),
    },
    verified: random() < 0.2 ? random() < 0.5 : undefined,
    employee: random() < 0.1 ? random() < 0.5 : undefined,
  };
}

/** The answer to a request, in the plainest words. */
function naive(all: readonly UserRow[], { entityFilterRequest: request = {}, verified, employee }: Asked): UserRow[] {
  const text = request.queryString?.trim() ?? '';
  const state = (row: UserRow) => (row.deleted_at ? 'deleted' : row.disabled_at ? 'disabled' : 'active');
  const key = {
    createdAt: (row: UserRow) => row.created_at.toISOString(),
    name: (row: UserRow) => row.name,
    email: (row: UserRow) => row.email,
  }[request.orderByField as 'name']!;
  const up = request.orderByDirection === 'asc' ? 1 : -1;
  return all
    .filter((row) => text === '' || isCalled(row, text) || String(row.id) === text)
    .filter((row) => !request.statuses || request.statuses.includes(state(row)))
    .filter((row) => verified === undefined || (row.email_verified_at !== null) === verified)
    .filter((row) => employee === undefined || row.is_employee === employee)
    .toSorted((a, b) => up * (byBytes(key(a), key(b)) || a.id - b.id));
}
