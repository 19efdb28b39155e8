import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { api } from '@stagi/contract/api.ts';
import { PLAN_LIMITS } from '@stagi/contract/planLimits.ts';
import type { Plan } from '@stagi/contract/user.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { builtDaemonEnv } from '../testing/cloudApp.ts';
import { aProject, aSelfHostedServer } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';

let app: TestApp;
let alice: Person;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'stagi-plan-counts-'));
  app = await startTestApp(builtDaemonEnv(folder), { role: 'api' });
});
afterAll(async () => {
  await app?.close();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  alice = await app.signUp();
});

let n = 0;
const slug = (): string => {
  n += 1;
  return `made-${n}`;
};

/** Own servers, and projects: how they are made, removed and refused. */
const COUNTED = {
  'own servers': {
    limit: 'ownServers',
    message: (limit: number) => `Your plan allows ${limit} own servers. Remove one or upgrade.`,
    make: ({ client }: Person) => client(api.selfHosted.create, { title: 'Mine', slug: slug() }),
    place: aSelfHostedServer,
    count: async ({ client }: Person) => (await client(api.selfHosted.list, {})).totalCount,
  },
  projects: {
    limit: 'projects',
    message: (limit: number) => `Your plan allows ${limit} projects. Delete one or upgrade.`,
    make: ({ client }: Person) => client(api.projects.create, { title: 'Mine', slug: slug() }),
    place: aProject,
    count: async ({ client }: Person) => (await client(api.projects.list, {})).totalCount,
  },
} as const;

const secondWorkspace = async (person: Person): Promise<number> =>
  (await person.client(api.clients.create, { name: 'Second' })).entity.clientId;
const makeOwner = (workspaceId: number, { userId }: Person) =>
  app.ctx.db.insertInto('membership').values({ workspace_id: workspaceId, user_id: userId, role: 'Owner' }).execute();
const usePlan = (workspaceId: number, plan: Plan) =>
  app.ctx.db.updateTable('workspace').set({ plan }).where('id', '=', workspaceId).execute();

describe.each(Object.entries(COUNTED))('%s of a plan', (_, { limit: field, message, make, place, count }) => {
  const limit = PLAN_LIMITS.Free[field]!;
  const refusal = (most = limit) => ({ status: 400, body: { message: message(most), fieldsWithError: ['title'] } });
  const fill = async (person: Person, most = limit) => {
    for (let made = 0; made < most; made += 1) await place(app.ctx, person);
  };

  it('end at its limit: of 60 on the Free plan all but the first ones are refused', async () => {
    const made = [];
    for (let tried = 0; tried < 60; tried += 1) made.push(await make(alice).catch(() => null));
    expect(made.filter((entity) => entity !== null)).toHaveLength(limit);
    await expect(make(alice)).rejects.toMatchObject(refusal());
  });

  it('end there also for 30 calls at once, in two workspaces of one person', async () => {
    const home = alice.workspaceId;
    const second = await secondWorkspace(alice);
    await fill(alice, limit - 2);
    const calls = Array.from({ length: 30 }, (_call, index) => {
      alice.useWorkspace(index % 2 ? home : second);
      return make(alice);
    });
    const outcomes = await Promise.allSettled(calls);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    for (const outcome of outcomes) if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject(refusal());
  });

  it('end there for 30 calls at once in a workspace of a paid plan', async () => {
    await usePlan(alice.workspaceId, 'Individual');
    const most = PLAN_LIMITS.Individual[field]!;
    await fill(alice, most - 3);
    const outcomes = await Promise.allSettled(Array.from({ length: 30 }, () => make(alice)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    await expect(make(alice)).rejects.toMatchObject(refusal(most));
  });

  it('count per person: another Free workspace adds none, and a paid one counts by itself', async () => {
    await fill(alice);
    alice.useWorkspace(await secondWorkspace(alice));
    await expect(make(alice)).rejects.toMatchObject(refusal());
    await usePlan(alice.workspaceId, 'Individual');
    await make(alice);
  });

  it('count for an owner to whom a full workspace is handed over, and for all who are its owners', async () => {
    const bob = await app.signUp();
    const home = bob.workspaceId;
    await fill(alice);
    await make(bob);
    const shared = await secondWorkspace(alice);
    await makeOwner(shared, bob);
    bob.useWorkspace(shared);
    await expect(make(bob)).rejects.toMatchObject(refusal());
    await makeOwner(alice.workspaceId, bob);
    bob.useWorkspace(home);
    await expect(make(bob)).rejects.toMatchObject(refusal());
  });

  it('that a smaller plan does not allow stay, and no new one is made', async () => {
    await usePlan(alice.workspaceId, 'Team');
    await fill(alice, limit + 2);
    await make(alice);
    await usePlan(alice.workspaceId, 'Free');
    await expect(make(alice)).rejects.toMatchObject(refusal());
    expect(await count(alice)).toBe(limit + 3);
  });

  it('are not limited on the Enterprise plan', async () => {
    await usePlan(alice.workspaceId, 'Enterprise');
    await fill(alice, PLAN_LIMITS.Team[field]!);
    await make(alice);
  });
});

it('an own server that is deleted makes room for another one', async () => {
  const { make } = COUNTED['own servers'];
  const made = await make(alice);
  for (let more = 1; more < PLAN_LIMITS.Free.ownServers!; more += 1) await make(alice);
  await expect(make(alice)).rejects.toMatchObject({ status: 400 });
  await alice.client(api.selfHosted.delete, { id: made.entity.id });
  await make(alice);
});

it('a project counts until it is gone: archived, being deleted, and where the deletion fails', async () => {
  const { make } = COUNTED.projects;
  const limit = PLAN_LIMITS.Free.projects!;
  const ids = [];
  for (let made = 0; made < limit; made += 1) ids.push(await aProject(app.ctx, alice, 'active'));
  await alice.client(api.projects.archive, { id: ids[0]! });
  const { slug: slugTyped } = (await alice.client(api.projects.view, { id: ids[1]! })).entity;
  await alice.client(api.projects.delete, { id: ids[1]!, slugTyped });
  await expect(make(alice)).rejects.toMatchObject({ status: 400 });
  await sql`update project set status = 'deletion failed' where id = ${ids[1]!}`.execute(app.ctx.db);
  await expect(make(alice)).rejects.toMatchObject({ status: 400 });
  expect((await alice.client(api.projects.form, {})).projects).toEqual({ used: limit, limit });
  await sql`update project set status = 'deleting' where id = ${ids[1]!}`.execute(app.ctx.db);
  await sql`update project set status = 'deleted', closed_at = now() where id = ${ids[1]!}`.execute(app.ctx.db);
  await make(alice);
});

it('a project that is imported counts like another one', async () => {
  for (let made = 0; made < PLAN_LIMITS.Free.projects!; made += 1) await aProject(app.ctx, alice);
  const importUrl = 'https://git.example.com/a.git';
  await expect(alice.client(api.projects.create, { title: 'Import', slug: slug(), importUrl })).rejects.toMatchObject({
    status: 400,
    body: { fieldsWithError: ['title'] },
  });
});
