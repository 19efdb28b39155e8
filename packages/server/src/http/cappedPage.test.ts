import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openPool } from '../db/pool.ts';
import { createTestDatabase } from '../testing/database.ts';
import { cappedPage } from './cappedPage.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let pool: ReturnType<typeof openPool>;
beforeAll(async () => {
  database = await createTestDatabase();
  pool = openPool(database.url);
});
afterAll(async () => {
  await pool?.close();
  await database?.drop();
});

/** Page `page` of the numbers 1 to `rows`, highest first, ten on a page. */
function pageOfNumbers(rows: number, page: number, queryString?: string) {
  const list = {
    from: sql`generate_series(1, ${rows}::int) as n(id)`,
    where: [sql<boolean>`true`],
    id: sql<number>`n.id`,
    order: [sql`n.id % 1000000`],
  };
  const request = { orderByField: 'id', orderByDirection: 'desc' as const, page, limit: 10, queryString };
  return cappedPage(pool.db, list, request);
}

const numbersFrom = (first: number) => Array.from({ length: 10 }, (_, at) => first - at);

it('counts up to 10,000 rows of a list and says that there are more', async () => {
  expect(await pageOfNumbers(9_999, 1)).toEqual({ ids: numbersFrom(9_999), count: 9_999, isMore: false });
  expect(await pageOfNumbers(10_000, 1000)).toEqual({ ids: numbersFrom(10), count: 10_000, isMore: false });
  expect(await pageOfNumbers(10_001, 2)).toEqual({ ids: numbersFrom(9_991), count: 10_000, isMore: true });
});

it('counts up to 1,000 matches of a search', async () => {
  expect(await pageOfNumbers(1_000, 1, 'text')).toEqual({ ids: numbersFrom(1_000), count: 1_000, isMore: false });
  expect(await pageOfNumbers(1_001, 1, 'text')).toEqual({ ids: numbersFrom(1_001), count: 1_000, isMore: true });
});

it('reads pages behind what is counted, and an empty one behind the last', async () => {
  expect((await pageOfNumbers(12_000, 1_101)).ids).toEqual(numbersFrom(1_000));
  expect((await pageOfNumbers(2_000, 151, 'text')).ids).toEqual(numbersFrom(500));
  expect((await pageOfNumbers(25, 4)).ids).toEqual([]);
});
