import { api } from '@stagi/contract/api.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { haveSteppedUp } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';
import { AT_ONCE, follow, followNames, startFollowingNames } from './followNames.ts';

/** Beside the one of their own. */
const MANY = 3 * AT_ONCE;
const SOON = { timeout: 20_000, interval: 20 };

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({}, { role: 'api' });
});
afterAll(() => app?.close());

it('has the memberships of somebody in many workspaces follow their name a step at a time, whatever it becomes meanwhile', async () => {
  const { db } = app.ctx;
  const max = await app.signUp('Max');
  const owner = await inManyWorkspaces(max, MANY);
  const late = () => behind(max);

  await max.client(api.user.edit, { name: 'Maxine Moved' });
  expect([await late(), await asked(max)]).toEqual([MANY + 1 - AT_ONCE, true]);
  expect(await follow(db, max.userId)).toBe(AT_ONCE);
  expect(await late()).toBe(MANY + 1 - 2 * AT_ONCE);

  // Who reads the list sees who they are, also where it does not know yet.
  const [seen] = (await owner.client(api.clients.members, { roles: ['Guest'] })).entities;
  expect(seen?.name).toBe('Maxine Moved');

  await max.client(api.user.edit, { name: 'Maxine Twice' });
  expect(await late()).toBe(MANY + 1 - AT_ONCE);
  expect(await followNames(app.ctx)).toBe(MANY + 1 - AT_ONCE);
  expect([await late(), await asked(max)]).toEqual([0, false]);
  for (const [queryString, count] of [
    ['Twice', 1],
    ['Moved', 0],
  ] as const) {
    const { totalCount } = await owner.client(api.clients.members, { entityFilterRequest: { queryString } });
    expect(totalCount, queryString).toBe(count);
  }
  expect(await followNames(app.ctx)).toBe(0);
  console.log(`memberships that followed a name: n = ${MANY + 1}, ${AT_ONCE} a step`);
});

it('is told of it at once, and asks for nothing where few have to follow', async () => {
  const few = await app.signUp('Few');
  await few.client(api.user.edit, { name: 'Few and quick' });
  expect([await behind(few), await asked(few)]).toEqual([0, false]);

  const worker = startFollowingNames(app.ctx);
  try {
    const max = await app.signUp('Max');
    await inManyWorkspaces(max, AT_ONCE + 1);
    await max.client(api.user.edit, { name: 'Max Moritz' });
    await expect.poll(() => behind(max), SOON).toBe(0);
    await expect.poll(() => asked(max), SOON).toBe(false);
  } finally {
    await worker.stop();
  }
});

it('meets nobody crosswise who deletes their account at that moment', async () => {
  const max = await app.signUp('Max');
  await inManyWorkspaces(max, MANY);
  await max.client(api.user.edit, { name: 'Going Gone' });
  await haveSteppedUp(app.ctx, max);
  const [followed] = await Promise.all([followNames(app.ctx), max.client(api.account.delete, { email: max.email })]);
  expect(followed).toBeLessThanOrEqual(MANY);
  expect([await behind(max), await asked(max)]).toEqual([0, false]);
});

/** A guest everywhere; answers who owns the workspace that came last. */
async function inManyWorkspaces(person: Person, count: number): Promise<Person> {
  const owner = await app.signUp('Owner');
  await sql`
    with made as (
      insert into workspace (name) select 'Many ' || n from generate_series(1, ${count - 1}::int) n returning id),
    owned as (insert into membership (workspace_id, user_id, role) select id, ${owner.userId}, 'Owner' from made)
    insert into membership (workspace_id, user_id, role) select id, ${person.userId}, 'Guest' from made`.execute(
    app.ctx.db,
  );
  await sql`insert into membership (workspace_id, user_id, role, created_at)
    values (${owner.workspaceId}, ${person.userId}, 'Guest', now() + interval '1 minute')`.execute(app.ctx.db);
  return owner;
}

async function behind({ userId }: Person): Promise<number> {
  const { rows } = await sql<{
    n: number;
  }>`select count(*)::int as n from membership m join app_user u on u.id = m.user_id
    where u.id = ${userId} and (m.name, m.email) is distinct from (u.name, u.email)`.execute(app.ctx.db);
  return rows[0]!.n;
}

async function asked({ userId }: Person): Promise<boolean> {
  const row = await app.ctx.db
    .selectFrom('membership_follows')
    .select('user_id')
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return row !== undefined;
}
