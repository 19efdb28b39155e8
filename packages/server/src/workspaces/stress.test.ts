import { api } from '@stagi/contract/api.ts';
import { CallError } from '@stagi/contract/errors.ts';
import { ROLE_PERMISSIONS, ROLES, type Role } from '@stagi/contract/permissions.ts';
import { PLAN_LIMITS } from '@stagi/contract/planLimits.ts';
import { newSeed, seeded } from '@stagi/contract/testing/random.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { makeOperator, markSteppedUp } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';

const ROUNDS = 12;
const AT_ONCE = 16;
const PLAN = 'Team';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({}, { role: 'api' });
});
afterAll(() => app?.close());

it('keeps the invariants of a workspace whatever many people do to it at once: an owner, its seats, links and tokens of members only, a whole log', async () => {
  const seed = newSeed();
  const random = seeded(seed);
  const operator = await app.signUp('Olga');
  await makeOperator(app.ctx, operator);
  const founder = await app.signUp('Founder');
  const id = founder.workspaceId;
  const people = [founder];
  for (let n = 0; n < 11; n += 1) people.push(await app.signUp(`Person ${n}`));
  for (const person of [operator, ...people]) await markSteppedUp(app.ctx, person);
  for (const person of people) person.useWorkspace(id);
  for (const [n, { userId }] of people.slice(1, 6).entries())
    await app.ctx.db
      .insertInto('membership')
      .values({ workspace_id: id, user_id: userId, role: n < 2 ? 'Owner' : 'Admin' })
      .execute();
  await app.ctx.db.updateTable('workspace').set({ plan: PLAN }).where('id', '=', id).execute();

  const { pick } = random;
  const links: string[] = [];
  const done = new Map<string, number>();
  const wrong: string[] = [];
  let acts = 0;
  let busy = 0;

  /** One random call. A refusal is fine; a failure is not. */
  async function act(): Promise<void> {
    const [who, whom, role] = [pick(people), pick(people), pick<Role>(ROLES)];
    const kinds: Record<string, () => Promise<unknown>> = {
      'client/join': async () => {
        if (links.length === 0) throw nothingToDo();
        const { joined } = await who.client(api.invites.join, { code: pick(links).slice(-43) });
        if (!joined) throw nothingToDo();
      },
      'client/member/edit': () => who.client(api.clients.editMember, { userId: whom.userId, role }),
      'client/member/remove': () => who.client(api.clients.removeMember, { userId: whom.userId }),
      'client/leave': () => who.client(api.clients.leave, {}),
      'client/edit': () => who.client(api.clients.edit, { newName: `Name ${acts}` }),
      'client/invite/create': async () =>
        links.push((await who.client(api.invites.create, { role, uses: random.between(1, 3) })).link),
      'client/invite/revoke': async () => {
        const { entities } = await who.client(api.invites.list, { entityFilterRequest: { statuses: ['pending'] } });
        if (entities.length === 0) throw nothingToDo();
        await who.client(api.invites.revoke, { id: pick(entities).id });
      },
      'api-token/create': () => who.client(api.apiTokens.create, { description: 'in the storm' }),
      'admin/client/disable': () => operator.client(api.adminClients.disable, { id, reason: 'storm' }),
      'admin/client/enable': () => operator.client(api.adminClients.enable, { id }),
    };
    const name = pick(Object.keys(kinds));
    acts += 1;
    try {
      await kinds[name]!();
      note(name);
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      if (error.status === 503) busy += 1;
      else if (error.status >= 500) wrong.push(`${name}: ${error.status}`);
    }
  }

  for (let round = 0; round < ROUNDS; round += 1) {
    await letIn();
    await Promise.all(Array.from({ length: AT_ONCE }, act));
    wrong.push(...(await unholy()));
  }
  const owner = await letIn();

  const { rows: told } = await sql<{ action: string; n: number }>`
    select action, count(*)::int as n from audit where chain = ${id} and outcome = 'done' group by 1`.execute(
    app.ctx.db,
  );
  expect(Object.fromEntries(told.map(({ action, n }) => [action, n]))).toEqual(Object.fromEntries(done));
  const verdict = await owner.client(api.audit.verify, {});
  expect(verdict).toMatchObject({ broken: null, next: null });
  console.log(
    `acts upon one workspace: seed ${seed}, n = ${acts}, done ${[...done.values()].reduce((a, b) => a + b, 0)} in ${done.size} kinds, ` +
      `${busy} asked to come again, ${verdict.checked} entries, ${wrong.length} wrong`,
  );
  expect(wrong).toEqual([]);
  expect(done.size).toBeGreaterThan(5);

  function note(name: string): void {
    done.set(name, (done.get(name) ?? 0) + 1);
  }

  /** Owners keep inviting, or the workspace would soon be empty. */
  async function letIn(): Promise<Person> {
    const { disabled_at } = await app.ctx.db
      .selectFrom('workspace')
      .select('disabled_at')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    if (disabled_at) {
      await operator.client(api.adminClients.enable, { id });
      note('admin/client/enable');
    }
    const { user_id } = await app.ctx.db
      .selectFrom('membership')
      .select('user_id')
      .where('workspace_id', '=', id)
      .where('role', '=', 'Owner')
      .limit(1)
      .executeTakeFirstOrThrow();
    const owner = people.find(({ userId }) => userId === user_id)!;
    links.length = 0;
    try {
      links.push((await owner.client(api.invites.create, { role: pick(['Owner', 'Admin'] as const), uses: 3 })).link);
      note('client/invite/create');
    } catch (error) {
      // All seats are taken.
      if (!(error instanceof CallError) || error.status !== 200) throw error;
    }
    return owner;
  }

  /** The invariants. */
  async function unholy(): Promise<string[]> {
    const { rows } = await sql<{ owners: number; members: number; strays: number; links: number; over: number }>`
      select (select count(*)::int from membership where workspace_id = ${id} and role = 'Owner') as owners,
        (select count(*)::int from membership where workspace_id = ${id}) as members,
        (select count(*)::int from api_token t where workspace_id = ${id} and archived_at is null and not exists
          (select from membership m where m.workspace_id = ${id} and m.user_id = t.user_id)) as strays,
        (select count(*)::int from invite i where workspace_id = ${id} and status = 'pending' and not exists
          (select from membership m where m.workspace_id = ${id} and m.user_id = i.created_by
            and (m.role = 'Owner' or (m.role = 'Admin' and i.role <> 'Owner')))) as links,
        (select count(*)::int from invite where workspace_id = ${id} and (used > uses or (used = uses) <> (ended_by is not distinct from 'used up'))) as over
      `.execute(app.ctx.db);
    const now = rows[0]!;
    const found: string[] = [];
    if (now.owners === 0) found.push('no owner');
    if (now.members > PLAN_LIMITS[PLAN].members!) found.push(`${now.members} members`);
    if (now.strays > 0) found.push(`${now.strays} tokens of who is no member`);
    if (now.links > 0) found.push(`${now.links} links that nobody might make`);
    if (now.over > 0) found.push(`${now.over} links that count wrong`);
    return found;
  }
});

/** Counts as a refusal. */
const nothingToDo = () => new CallError(200, null, null);

it('assumes that Admin is the role with all but the owner’s own permissions', () => {
  const may = ROLES.filter((role) => ROLE_PERMISSIONS[role].includes('INVITE_USERS_TO_CLIENT'));
  expect(may).toEqual(['Owner', 'Admin']);
});
