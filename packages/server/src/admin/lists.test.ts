import { api } from '@stagi/contract/api.ts';
import { newSeed, seeded } from '@stagi/contract/testing/random.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { makeOperator, markSteppedUp } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';
import { addUsers, everyUser } from './testing/manyUsers.ts';

const SEED = newSeed();
const USERS = 400;
const COUNTED = 1_000;

const random = seeded(SEED);

let app: TestApp;
let operator: Person;
beforeAll(async () => {
  app = await startTestApp();
  operator = await app.signUp('Olga Operator');
  await makeOperator(app.ctx, operator);
  await markSteppedUp(app.ctx, operator);
  await addUsers(app.ctx.db, random, USERS);
});
afterAll(() => app?.close());

describe('the list of users', () => {
  it('shows everybody once, page after page, however it is sorted', async () => {
    const all = await everyUser(app.ctx.db);
    for (const orderByField of ['createdAt', 'name', 'email'])
      for (const orderByDirection of ['asc', 'desc'] as const) {
        const seen: number[] = [];
        for (let page = 1, pages = 1; page <= pages; page += 1) {
          const request = { orderByField, orderByDirection, page, limit: 100 };
          const { entities, totalPages } = await operator.client(api.adminUsers.list, { entityFilterRequest: request });
          seen.push(...entities.map(({ id }) => id));
          pages = totalPages;
        }
        expect(new Set(seen).size).toBe(seen.length);
        expect(seen.toSorted((a, b) => a - b)).toEqual(all.map(({ id }) => id).toSorted((a, b) => a - b));
      }
  });

  it('refuses an order that it does not have', async () => {
    const request = { entityFilterRequest: { orderByField: 'password_hash' } };
    await expect(operator.client(api.adminUsers.list, request)).rejects.toMatchObject({ status: 400 });
  });

  it('tells nobody’s secrets', async () => {
    const { entity } = await operator.client(api.adminUsers.view, { id: operator.userId });
    expect(entity).toMatchObject({
      email: operator.email,
      isEmployee: true,
      hold: 'self',
      signedInBy: ['password'],
      hasSecondFactor: false,
      sessions: 1,
      apiTokens: 0,
      workspaceCount: 1,
    });
    expect(entity.workspaces).toMatchObject([{ clientId: operator.workspaceId, roleName: 'Owner', isOnlyOwner: true }]);
    expect(JSON.stringify(entity)).not.toMatch(/argon|hash|sealed|token":/i);
    await expect(operator.client(api.adminUsers.view, { id: 999_999_999 })).rejects.toMatchObject({ status: 404 });
  });
});

describe('the list of workspaces', () => {
  it('finds them by name, by id and by the beginning of an owner’s address', async () => {
    const grace = await app.signUp('Grace Hopper');
    const ids = async (queryString: string) =>
      (await operator.client(api.adminClients.list, { entityFilterRequest: { queryString, limit: 100 } })).entities.map(
        ({ id }) => id,
      );
    expect(await ids('ce hopper')).toEqual([grace.workspaceId]);
    expect(await ids('ho')).toContain(grace.workspaceId);
    expect(await ids('opper’s wo')).toEqual([grace.workspaceId]);
    expect(await ids(String(grace.workspaceId))).toContain(grace.workspaceId);
    expect(await ids(grace.email)).toEqual([grace.workspaceId]);
    expect(await ids(grace.email.slice(0, grace.email.indexOf('@') + 1))).toEqual([grace.workspaceId]);
    expect(await ids('@example.com')).toEqual([]);
    expect(await ids('99999999999999')).toEqual([]);
  });

  it('mixes several plans in one order, page after page', async () => {
    const plans = ['Team', 'Individual'] as const;
    await sql`insert into workspace (name, plan, created_by, created_at)
      select 'Planned ' || n % 7, (array['Team', 'Individual', 'Free'])[1 + n % 3], ${operator.userId}, now() - n % 5 * interval '1 day'
      from generate_series(1, 60) n`.execute(app.ctx.db);
    for (const orderByField of ['name', 'createdAt'])
      for (const orderByDirection of ['asc', 'desc'] as const) {
        const page = (number: number, limit: number) =>
          operator.client(api.adminClients.list, {
            plans: [...plans],
            entityFilterRequest: { orderByField, orderByDirection, page: number, limit },
          });
        const both = (await page(1, 100)).entities;
        expect(new Set(both.map(({ subscriptionPlan }) => subscriptionPlan)).size).toBe(2);
        const rows = await sql<{ id: number }>`select id from workspace where plan in ('Team', 'Individual')
          order by ${sql.ref(orderByField === 'name' ? 'name' : 'created_at')} ${sql.raw(orderByDirection)}, id ${sql.raw(orderByDirection)}`.execute(
          app.ctx.db,
        );
        expect(both.map(({ id }) => id)).toEqual(rows.rows.map(({ id }) => id));
        const turned = await Promise.all([1, 2, 3].map((number) => page(number, 10)));
        expect(turned.flatMap(({ entities }) => entities.map(({ id }) => id))).toEqual(
          both.slice(0, 30).map(({ id }) => id),
        );
        for (const { totalCount } of turned) expect(totalCount).toBe(both.length);
      }
    await sql`delete from workspace where name like 'Planned %'`.execute(app.ctx.db);
  });

  it('finds a text among the workspaces of some plans and states, in order', async () => {
    const made = 3_000;
    await sql`insert into workspace (name, plan, created_by, created_at, disabled_at, deleted_at)
      select 'Sought ' || n * 7 % 600, (array['Team', 'Individual', 'Free'])[1 + n % 3], ${operator.userId},
        now() - n % 5 * interval '1 day', case when n % 4 = 0 then now() end, case when n % 8 = 0 then now() end
      from generate_series(1, ${made}) n`.execute(app.ctx.db);
    const all = await app.ctx.db
      .selectFrom('workspace')
      .select(['id', 'name', 'plan', 'disabled_at', 'deleted_at'])
      .orderBy('name', 'desc')
      .orderBy('id', 'desc')
      .execute();
    const byName = { orderByField: 'name', orderByDirection: 'desc' } as const;
    let [found, uncounted] = [0, 0];
    for (const queryString of ['sought', 'SOUGHT 1', 'ght 59', 'sought 99'])
      for (const plans of [[], ['Team'], ['Team', 'Free'], ['Enterprise']] as const)
        for (const statuses of [[], ['active'], ['disabled'], ['disabled', 'closed']]) {
          const page = random.between(1, 3);
          const { entities, totalCount, isMore } = await operator.client(api.adminClients.list, {
            plans: [...plans],
            entityFilterRequest: { ...byName, queryString, statuses, page, limit: 100 },
          });
          const expected = all.filter(({ name, plan, disabled_at, deleted_at }) => {
            const state = deleted_at ? 'closed' : disabled_at ? 'disabled' : 'active';
            const isOf = plans.length === 0 || plans.some((one) => one === plan);
            return (
              name.toLowerCase().includes(queryString.toLowerCase()) &&
              isOf &&
              (statuses.length === 0 || statuses.includes(state))
            );
          });
          const hint = `seed ${SEED}: ${JSON.stringify({ queryString, plans, statuses, page })}`;
          expect(
            entities.map(({ id }) => id),
            hint,
          ).toEqual(expected.slice((page - 1) * 100, page * 100).map(({ id }) => id));
          const isTooMany = expected.length > COUNTED;
          expect([totalCount, isMore === true], hint).toEqual([isTooMany ? COUNTED : expected.length, isTooMany]);
          found += entities.length;
          if (isTooMany) uncounted += 1;
        }
    console.log(
      `workspaces found among plans and states: n = ${found}, ${uncounted} of too many to count, seed ${SEED}`,
    );
    expect(found).toBeGreaterThan(100);
    expect(uncounted).toBeGreaterThan(0);
    await sql`delete from workspace where name like 'Sought %'`.execute(app.ctx.db);
  });

  it('finds more by the beginning of owners’ addresses than it counts', async () => {
    const owners = COUNTED + 100;
    await sql`with person as (insert into app_user (name, email) select 'Owner', 'many@' || n || '.example.com'
        from generate_series(1, ${owners}) n returning id),
      made as (insert into workspace (name, created_by) select 'Owned ' || lpad(id::text, 6, '0'), id from person returning id, created_by)
      insert into membership (workspace_id, user_id, role) select id, created_by, 'Owner' from made`.execute(
      app.ctx.db,
    );
    const expected = await app.ctx.db
      .selectFrom('workspace')
      .select('id')
      .where('name', 'like', 'Owned %')
      .orderBy('name')
      .execute();
    const seen: number[] = [];
    for (let page = 1; page <= owners / 100; page += 1) {
      const request = {
        queryString: 'many@',
        orderByField: 'name',
        orderByDirection: 'asc' as const,
        page,
        limit: 100,
      };
      const { entities, ...total } = await operator.client(api.adminClients.list, { entityFilterRequest: request });
      expect(total).toMatchObject({ totalCount: COUNTED, isMore: true });
      seen.push(...entities.map(({ id }) => id));
    }
    expect(seen).toEqual(expected.map(({ id }) => id));
    const request = { queryString: 'many@17.', orderByField: 'name' };
    const { totalCount } = await operator.client(api.adminClients.list, { entityFilterRequest: request });
    expect(totalCount).toBe(1);
  });

  it('narrows by plan and state', async () => {
    const team = await app.signUp('Team Lead');
    await app.ctx.db.updateTable('workspace').set({ plan: 'Team' }).where('id', '=', team.workspaceId).execute();
    const { entities } = await operator.client(api.adminClients.list, { plans: ['Team'] });
    expect(entities).toMatchObject([
      { id: team.workspaceId, state: 'active', members: 1, owner: { userId: team.userId, email: team.email } },
    ]);
    const closed = await operator.client(api.adminClients.list, { entityFilterRequest: { statuses: ['closed'] } });
    expect(closed.entities).toEqual([]);
    const { entity } = await operator.client(api.adminClients.view, { id: team.workspaceId });
    expect(entity).toMatchObject({
      isPersonal: true,
      people: [{ userId: team.userId, roleName: 'Owner' }],
      machines: [],
    });
  });
});
