import { api } from '@stagi/contract/api.ts';
import { seeded } from '@stagi/contract/testing/random.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { makeOperator } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';
import { alone } from './alone.ts';
import { blocksOf } from './blocks.ts';
import { buildDue, followNews } from './keep.ts';
import { LISTS, type List, listOf, ordersOf, rowsOf } from './lists.ts';

const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);
const random = seeded(SEED);

let app: TestApp;
let operator: Person;
beforeAll(async () => {
  app = await startTestApp({}, { role: 'api' });
  operator = await app.signUp('Olga Operator');
  await makeOperator(app.ctx, operator);
});
afterAll(() => app?.close());

describe('a list of thousands', () => {
  const PEOPLE = 4_000;
  const ZOES = 500;
  /** Those called Zoe, who stand at the end of all, as an operator sees them. */
  const zoes = async (page = 1, orderByDirection: 'asc' | 'desc' = 'asc') => {
    const request = { queryString: 'zoe', orderByField: 'name', orderByDirection, page, limit: 10 };
    return (await operator.client(api.adminUsers.list, { entityFilterRequest: request })).entities.map(
      ({ name }) => name,
    );
  };

  beforeAll(async () => {
    await sql`insert into app_user (name, email)
      select case when n % ${PEOPLE / ZOES} = 0 then 'Zoe ' else 'Bea ' end || to_char(n, 'FM0000'), 'one' || n || '@example.com'
      from generate_series(1, ${PEOPLE}) n`.execute(app.ctx.db);
    await followNews(app.ctx.db);
    await build({ least: 1_000, blocks: 40 });
  });

  it('shows whoever comes and changes from the same moment on, where all else is skipped', async () => {
    expect(await zoes()).toEqual(Array.from({ length: 10 }, (_, n) => `Zoe ${String(8 + n * 8).padStart(4, '0')}`));
    expect((await zoes(2))[0]).toBe('Zoe 0088');
    expect((await zoes(1, 'desc')).slice(0, 2)).toEqual(['Zoe 4000', 'Zoe 3992']);
    const [anna] = [await app.signUp('Anna Zoe'), await app.signUp('Zoe Zoe')];
    expect((await zoes()).slice(0, 2)).toEqual(['Anna Zoe', 'Zoe 0008']);
    expect((await zoes(1, 'desc'))[0]).toBe('Zoe Zoe');
    await anna.client(api.user.edit, { name: 'Carla Zoe' });
    expect((await zoes()).slice(0, 2)).toEqual(['Carla Zoe', 'Zoe 0008']);
    await followNews(app.ctx.db);
    expect((await zoes()).slice(0, 2)).toEqual(['Carla Zoe', 'Zoe 0008']);
    await anna.client(api.user.edit, { name: 'Nobody' });
    expect((await zoes())[0]).toBe('Zoe 0008');
  });

  it('shows who has an id that is a text which others have, wherever they stand', async () => {
    const one = app.ctx.db.selectFrom('app_user').select('id').where('name', '=', 'Bea 3999');
    const id = String((await one.executeTakeFirstOrThrow()).id);
    await sql`update app_user set name = 'Zoe ' || ${id}::text || ' ' || id where name like 'Zoe 3%'`.execute(
      app.ctx.db,
    );
    await followNews(app.ctx.db);
    const request = { queryString: id, orderByField: 'name', orderByDirection: 'asc' as const, limit: 10 };
    const { entities } = await operator.client(api.adminUsers.list, { entityFilterRequest: request });
    const names = entities.map(({ name }) => name.slice(0, 8));
    expect(names).toEqual(['Bea 3999', ...Array.from({ length: 9 }, () => `Zoe ${id}`)]);
  });

  it('is read by its index, and as a whole while more is new than that knows', async () => {
    const before = await zoes();
    const terms = await app.ctx.db.deleteFrom('skip_term').executeTakeFirst();
    expect(Number(terms.numDeletedRows)).toBeGreaterThan(100);
    expect(await zoes()).toEqual([]);
    await sql`insert into skip_news (of_table, workspace_id, row_id) select 'app_user', 0, 0 from generate_series(1, 2001)`.execute(
      app.ctx.db,
    );
    expect(await zoes()).toEqual(before);
    await followNews(app.ctx.db);
    expect(await zoes()).toEqual([]);
    await app.ctx.db.deleteFrom('skip_index').execute();
    expect(await zoes()).toEqual(before);
  });
});

describe('the indexes of long lists', () => {
  const USERS = listOf('app_user');
  const known = async () =>
    (await app.ctx.db.selectFrom('skip_index').selectAll().orderBy('id').execute()).map(
      ({ of_table, workspace_id, sorted_by }) => `${of_table} ${workspace_id} ${sorted_by}`,
    );
  const idOf = async (sortedBy: string) =>
    (
      await app.ctx.db
        .selectFrom('skip_index')
        .select('id')
        .where('of_table', '=', USERS.table)
        .where('sorted_by', '=', sortedBy)
        .executeTakeFirstOrThrow()
    ).id;

  beforeEach(async () => {
    await app.ctx.db.deleteFrom('skip_index').execute();
    await followNews(app.ctx.db);
  });

  it('are built of lists that are long, in each order, and dropped when they are not any more', async () => {
    await build({ least: 1_000_000, blocks: 10 });
    expect(await known()).toEqual([]);
    await build({ least: 1_000, blocks: 10 });
    expect(await known()).toEqual(Object.keys(ordersOf(USERS)).map((sortedBy) => `app_user 0 ${sortedBy}`));
    // About as many as before: no reason to drop it.
    await build({ least: 7_000, blocks: 10 });
    expect(await known()).toHaveLength(3);
    await build({ least: 1_000_000, blocks: 10 });
    expect(await known()).toEqual([]);
  });

  it('are built of the members of a workspace that has many', async () => {
    await sql`insert into membership (workspace_id, user_id, role)
      select ${operator.workspaceId}, id, 'Guest' from app_user where name like 'Bea %' limit 300`.execute(app.ctx.db);
    await build({ least: 200, blocks: 10 });
    const ofMembers = (await known()).filter((name) => name.startsWith('membership'));
    expect(ofMembers).toEqual(
      ['created_at', 'name', 'email'].map((sortedBy) => `membership ${operator.workspaceId} ${sortedBy}`),
    );
  });

  it('are built anew when half of a list has changed, and when nobody is called any more what a block begins with', async () => {
    const LENGTHS = { least: 1_000, blocks: 10 };
    await build(LENGTHS);
    const [byName, byEmail] = [await idOf('name'), await idOf('email')];
    await build(LENGTHS);
    expect([await idOf('name'), await idOf('email')]).toEqual([byName, byEmail]);

    await sql`update app_user set name = 'Dora' where name = (
      select lows[5] from skip_index where id = ${byName})`.execute(app.ctx.db);
    await build(LENGTHS);
    expect(await idOf('name')).toBeGreaterThan(byName);
    expect(await idOf('email')).toBe(byEmail);

    await sql`update app_user set name = name || 'x' where id % 3 > 0`.execute(app.ctx.db);
    await followNews(app.ctx.db);
    await build(LENGTHS);
    expect(await idOf('email')).toBeGreaterThan(byEmail);
  });

  it('or the news know whoever is called otherwise, in each of the tables', async () => {
    await sql`insert into workspace (name, created_by)
      select 'Lab ' || n, ${operator.userId} from generate_series(1, 300) n`.execute(app.ctx.db);
    await build({ least: 200, blocks: 10 });
    await followNews(app.ctx.db);
    const { rows: people } = await sql<{ id: number }>`
      update app_user set name = 'Ulla ' || id where id in (
        select user_id from membership where workspace_id = ${operator.workspaceId} order by user_id limit 20)
      returning id`.execute(app.ctx.db);
    const { rows: labs } = await sql<{ id: number }>`
      update workspace set name = 'Unit ' || id where name like 'Lab 2_' returning id`.execute(app.ctx.db);
    const renamed = [
      { list: USERS, rows: people },
      { list: listOf('membership', operator.workspaceId), rows: people },
      { list: listOf('workspace'), rows: labs },
    ];
    for (const knows of ['news', 'index']) {
      if (knows === 'index') await followNews(app.ctx.db);
      for (const { list, rows } of renamed) {
        expect(rows.length, list.table).toBeGreaterThanOrEqual(10);
        const ids = rows.map(({ id }) => id);
        expect(await lost(list, ids), `${list.table}, by the ${knows}`).toEqual([]);
      }
    }
  });

  it('tell where a text may stand, and that one stands nowhere', async () => {
    await build({ least: 1_000, blocks: 40 });
    expect((await blocksFor('zoe')).length).toBeGreaterThan(0);
    expect((await blocksFor('zoe')).length).toBeLessThan(20);
    // All signs of the one are there three by three, and none of the other.
    expect(await blocksFor('zoebea')).toEqual([]);
    expect(await blocksFor('\u0001\u0002')).toEqual([]);
  });

  it('know everybody of one name, of whom more than a block are called so', async () => {
    const { rows } = await sql<{ id: number }>`insert into app_user (name, email)
      select 'Yan', 'yan' || n || '@example.net' from generate_series(1, 250) n returning id`.execute(app.ctx.db);
    await followNews(app.ctx.db);
    await build({ least: 1_000, blocks: 40 });
    expect(
      await lost(
        USERS,
        rows.map(({ id }) => id),
      ),
    ).toEqual([]);
  });

  it('are written by one at a time', async () => {
    const second = await alone(app.ctx.db, async () => alone(app.ctx.db, async () => 'both'));
    expect(second).toBeNull();
    expect(await alone(app.ctx.db, async () => buildDue(app.ctx))).toBe(false);
    expect(await alone(app.ctx.db, async () => 'one')).toBe('one');
  });

  it('or the news know all who came while they were built and followed', async () => {
    const WRITERS = 4;
    const STEPS = 40;
    let isOver = false;
    const keeping = [0, 1].map(async () => {
      let turns = 0;
      for (; !isOver; turns += 1) {
        await followNews(app.ctx.db);
        if (random() < 0.3) await alone(app.ctx.db, (trx) => trx.deleteFrom('skip_index').execute());
        await buildDue(app.ctx, { least: 100, blocks: 30 });
      }
      return turns;
    });
    const written = await Promise.all(
      Array.from({ length: WRITERS }, async (_, writer) => {
        const ids: number[] = [];
        for (let step = 0; step < STEPS; step += 1)
          // Some of a transaction are written long before it ends.
          await app.ctx.db.transaction().execute(async (trx) => {
            const name = `${random.pick(['Ada', 'Mia', 'Zoe'])} ${writer}-${step}`;
            const { id } = await trx
              .insertInto('app_user')
              .values({ name, email: `w${writer}-${step}@example.org` })
              .returning('id')
              .executeTakeFirstOrThrow();
            ids.push(id);
            await sql`select pg_sleep(${random() * 0.02})`.execute(trx);
            const changed = random.pick(ids);
            await trx
              .updateTable('app_user')
              .set({ name: `${random.pick(['Ben', 'Tom'])} ${writer}+${step}` })
              .where('id', '=', changed)
              .execute();
          });
        return ids;
      }),
    );
    isOver = true;
    const turns = await Promise.all(keeping);
    await build({ least: 100, blocks: 30 });
    const ids = written.flat();
    expect(await lost(USERS, ids)).toEqual([]);
    await followNews(app.ctx.db);
    expect(await app.ctx.db.selectFrom('skip_news').select('id').execute()).toEqual([]);
    expect(await lost(USERS, ids)).toEqual([]);
    console.log(
      `came meanwhile: n = ${ids.length} people and as many changes, ${turns.join(' and ')} turns, seed ${SEED}`,
    );
    expect(Math.min(...turns)).toBeGreaterThan(0);
  });
});

async function build(lengths: Parameters<typeof buildDue>[1]): Promise<void> {
  await sql`analyze app_user, workspace, membership`.execute(app.ctx.db);
  expect(await buildDue(app.ctx, lengths)).toBe(true);
}

async function blocksFor(text: string, sortedBy = 'name', list = listOf('app_user'), has = sql<boolean>`true`) {
  const id = sql.ref<number>(LISTS[list.table].id);
  const rows = { from: sql.table(list.table), where: sql<boolean>`true`, has, id, order: [sql.ref(sortedBy)] };
  const blocks = await blocksOf(app.ctx.db, { list, sortedBy, texts: [sql<string>`${text}::text`] }, rows);
  if (!blocks) throw new Error('no index could tell');
  return blocks;
}

/** Who stands in no block that what they are called leads to, in some order. */
async function lost(list: List, ids: readonly number[]): Promise<string[]> {
  const all: string[] = [];
  let told = 0;
  for (const id of ids)
    for (const sortedBy of Object.keys(ordersOf(list))) {
      const me = sql<boolean>`${sql.ref(LISTS[list.table].id)} = ${id}`;
      const { rows } = await sql<{ search: string }>`select search from ${rowsOf(list)} and ${me}`.execute(app.ctx.db);
      const place = sql.ref(sortedBy);
      const blocks = await blocksFor(rows[0]!.search, sortedBy, list, me);
      told += blocks.length;
      const { rows: found } = await sql`select from ${rowsOf(list)} and ${me} and exists (
        select from json_to_recordset(${JSON.stringify(blocks)}) as block (low text, high text)
        where (low is null or ${place}::text >= low) and (high is null or ${place}::text < high))`.execute(app.ctx.db);
      if (found.length === 0) all.push(`${id} by ${sortedBy}`);
    }
  expect(told).toBeGreaterThan(0);
  return all;
}
