import { seeded } from '@stagi/contract/testing/random.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { cappedPage } from './cappedPage.ts';
import { pageOfFound } from './foundPage.ts';
import { somebody } from './testing/peopleCalled.ts';

const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);
const PEOPLE = 400;

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
  const random = seeded(SEED);
  const people = Array.from({ length: PEOPLE }, (_, n) => ({ ...somebody(random, n), is_employee: random() < 0.05 }));
  await app.ctx.db.insertInto('app_user').values(people).execute();
  console.log(`people of the lists: n = ${PEOPLE}, seed ${SEED}`);
});
afterAll(() => app?.close());

describe('a page of a long list', () => {
  const EVERY = 1_000_000;
  const SORTED = { sample: 1, met: 0, few: EVERY, late: EVERY, long: EVERY };
  const WAYS = {
    'looked through': { ...SORTED, sample: EVERY, few: 0 },
    'met along the order': { ...SORTED, met: EVERY, few: 0 },
    'too many to be sorted': { ...SORTED, few: 5 },
  };

  it('is the same however its rows are found', async () => {
    const [{ all }] = (
      await sql<{ all: number }>`select count(*)::int as all from app_user where search like '%a%'`.execute(app.ctx.db)
    ).rows as [{ all: number }];
    const counts = {
      'looked through': { count: all, isMore: false },
      'met along the order': { count: 20, isMore: true },
      'too many to be sorted': { count: 5, isMore: true },
    };
    expect(all).toBeGreaterThan(60);
    let pages = 0;
    for (const order of ['t.created_at', 't.name', 't.email'])
      for (const orderByDirection of ['asc', 'desc'] as const)
        for (const page of [1, 3, 7]) {
          const has = sql<boolean>`t.search like '%a%'`;
          const asked = {
            from: sql`app_user t`,
            where: sql<boolean>`true`,
            has,
            id: sql<number>`t.id`,
            order: [sql.ref(order)],
            // The sample of one row is one that has it.
            sample: sql`t.search like '%a%' desc, t.id`,
            few: [{ from: () => sql`app_user t`, where: has }],
            countMax: 20,
          };
          const request = { orderByField: 'createdAt', orderByDirection, page, limit: 10 };
          const { ids, ...total } = await pageOfFound(app.ctx.db, asked, request, SORTED);
          expect(ids).toHaveLength(10);
          expect(total).toEqual({ count: all, isMore: false });
          const tooMany = { ...asked, few: [{ from: () => asked.from, where: has, most: 5 }] };
          expect(await pageOfFound(app.ctx.db, tooMany, request, SORTED)).toEqual({ ids, count: 5, isMore: true });
          const counted = sql`select from app_user t where ${has}`;
          for (const most of [5, all]) {
            const few = [{ from: () => asked.from, where: has, most, counted }];
            expect(await pageOfFound(app.ctx.db, { ...asked, few }, request, SORTED)).toEqual({
              ids,
              count: most,
              isMore: most < all,
            });
          }
          for (const [name, bounds] of Object.entries(WAYS)) {
            const hint = `${name}: ${order} ${orderByDirection}, page ${page}`;
            const found = await pageOfFound(app.ctx.db, asked, request, bounds);
            expect(found, hint).toEqual({ ids, ...counts[name as keyof typeof WAYS] });
            pages += 1;
          }
        }
    console.log(`pages of a long list: n = ${pages}`);
    expect(pages).toBeGreaterThan(0);
  });

  it('is looked for where an index leads to few, and there alone what is left is looked at', async () => {
    const asked = {
      from: sql`app_user t`,
      where: sql<boolean>`true`,
      has: sql<boolean>`t.is_employee and t.search like '%a%'`,
      id: sql<number>`t.id`,
      order: [sql`t.name`],
      sample: null,
      few: [
        { from: () => sql`app_user t`, where: sql<boolean>`t.search like '%a%'`, has: sql<boolean>`t.is_employee` },
        { from: () => sql`app_user t`, where: sql<boolean>`t.is_employee`, has: sql<boolean>`t.search like '%a%'` },
      ],
    };
    const request = { orderByField: 'name', orderByDirection: 'asc' as const, page: 1, limit: 100 };
    const whole = await pageOfFound(app.ctx.db, asked, request, SORTED);
    expect(whole.ids.length).toBeGreaterThan(0);
    expect(whole).toMatchObject({ count: whole.ids.length, isMore: false });
    // More have the letter than may be sorted, fewer are operators.
    expect(await pageOfFound(app.ctx.db, asked, request, { ...SORTED, few: 60 })).toEqual(whole);
  });

  it('says when there are more rows than it counts', async () => {
    const asked = {
      from: sql`app_user t`,
      where: sql<boolean>`true`,
      id: sql<number>`t.id`,
      order: [sql`t.name`],
    };
    const request = { orderByField: 'name', orderByDirection: 'asc' as const, page: 3, limit: 10 };
    const all = PEOPLE;
    const whole = await cappedPage(app.ctx.db, asked, request, all);
    expect(whole).toMatchObject({ count: all, isMore: false });
    expect(await cappedPage(app.ctx.db, asked, request, all - 1)).toEqual({
      ids: whole.ids,
      count: all - 1,
      isMore: true,
    });
  });
});
