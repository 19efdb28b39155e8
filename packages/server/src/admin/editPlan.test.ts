import { api } from '@stagi/contract/api.ts';
import type { OutputOf } from '@stagi/contract/call.ts';
import { PLAN_LIMITS, type PlanQuotas, type Quota } from '@stagi/contract/planLimits.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { aTaskPlace, type TaskPlace } from '../tasks/testing/taskPlace.ts';
import { type CloudApp, CPU_OFFER, GPU_OFFER, rentServer, startCloudApp } from '../testing/cloudApp.ts';
import {
  anInvite,
  aProject,
  aRentedInstance,
  aSelfHostedServer,
  aStorage,
  makeOperator,
  markSteppedUp,
  next,
} from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';
import { refusal } from '../testing/refusal.ts';
import { storedMails } from '../testing/storedMails.ts';
import { aTask } from '../testing/taskFactories.ts';

let app: CloudApp;
let operator: Person;
let alice: Person;
beforeAll(async () => {
  app = await startCloudApp({}, { role: 'api,s3' });
  operator = await app.signUp('Olga Operator');
  await makeOperator(app.ctx, operator);
});
afterAll(() => app?.close());
beforeEach(async () => {
  await markSteppedUp(app.ctx, operator);
  alice = await app.signUp('Alice');
});

const setQuotas = async (quotas: PlanQuotas, id = alice.workspaceId) =>
  (await operator.client(api.adminClients.editPlan, { id, plan: 'Free', quotas })).entity;
const view = async (id = alice.workspaceId): Promise<OutputOf<typeof api.adminClients.view>['entity']> =>
  (await operator.client(api.adminClients.view, { id })).entity;

interface Kind {
  /** Places so many of the kind, without asking. */
  place(count: number): Promise<unknown>;
  /** One more, as members make it. */
  make(): Promise<unknown>;
  refusal(limit: number): string;
}

const each = (place: () => Promise<unknown>) => async (count: number) => {
  for (let n = 0; n < count; n += 1) await place();
};
const slug = () => `quota-${next()}`;
let place: TaskPlace;

const KINDS: Record<Quota, Kind> = {
  members: {
    place: each(async () => {
      const { userId } = await app.signUp();
      await app.ctx.db
        .insertInto('membership')
        .values({ workspace_id: alice.workspaceId, user_id: userId, role: 'Guest' })
        .execute();
    }),
    make: async () => {
      const guest = await app.signUp();
      const { code } = await anInvite(app.ctx, alice, { uses: 1 });
      return guest.client(api.invites.join, { code });
    },
    refusal: (limit) =>
      `All seats of this workspace are taken: its plan allows ${limit}. Ask whoever invited you to make room.`,
  },
  gpuServers: {
    place: each(() => rentServer(alice, { offerId: GPU_OFFER })),
    make: () => rentServer(alice, { offerId: GPU_OFFER }),
    refusal: (limit) => `GPU servers that your plan allows at a time: ${limit}`,
  },
  cpuOnlyServers: {
    place: each(() => aRentedInstance(app.ctx, alice)),
    make: () => rentServer(alice, { offerId: CPU_OFFER }),
    refusal: (limit) => `CPU-only servers that your plan allows at a time: ${limit}`,
  },
  ownServers: {
    place: each(() => aSelfHostedServer(app.ctx, alice)),
    make: () => alice.client(api.selfHosted.create, { title: 'Mine', slug: slug() }),
    refusal: (limit) => `Your plan allows ${limit} own servers. Remove one or upgrade.`,
  },
  projects: {
    place: each(() => aProject(app.ctx, alice)),
    make: () => alice.client(api.projects.create, { title: 'Mine', slug: slug() }),
    refusal: (limit) => `Your plan allows ${limit} projects. Delete one or upgrade.`,
  },
  storageGb: {
    place: async (gb) => {
      const id = await aStorage(app.ctx, alice);
      await app.ctx.db.updateTable('storage').set({ size_gb: gb }).where('id', '=', id).execute();
    },
    make: () => alice.client(api.storages.create, { title: 'Mine', slug: slug(), sizeGb: 1, location: 'local' }),
    refusal: (limit) => `Your plan allows ${limit} GB of storage in total; `,
  },
  runsPerDay: {
    place: async (count) => {
      place = await aTaskPlace(app, alice);
      const id = await aTask(app.ctx, alice, 'new');
      await sql`insert into task_run (task_id, number, created_at)
        select ${id}, 100 + n, now() from generate_series(1, ${count}::int) n`.execute(app.ctx.db);
    },
    make: () => place.create(alice),
    refusal: (limit) => `Your plan allows ${limit} task runs a day (UTC)`,
  },
};

describe.each(Object.entries(KINDS) as [Quota, Kind][])(
  'the quota of %s',
  (quota, { make, refusal: words, ...kind }) => {
    it('is the plan’s by default, and an own number, lower than what is there, or no limit', async () => {
      const most = PLAN_LIMITS.Free[quota]!;
      await operator.client(api.adminClients.addCredit, { id: alice.workspaceId, amount: '1000', reason: 'a test' });
      const { [quota]: first } = (await view()).use;
      await kind.place(most - first);
      const { [quota]: before } = (await view()).use;
      expect((await refusal(make())).message).toContain(words(most));

      await setQuotas({ [quota]: before + 1 });
      await make();
      expect((await view()).use[quota]).toBe(before + 1);
      expect((await refusal(make())).message).toContain(words(before + 1));

      const lowered = await setQuotas({ [quota]: 1 });
      expect(lowered.quotas).toEqual({ [quota]: 1 });
      expect((await view()).use[quota]).toBe(before + 1);
      expect((await refusal(make())).message).toContain(words(1));

      await setQuotas({ [quota]: null });
      await make();
      expect((await view()).use[quota]).toBe(before + 2);

      await setQuotas({});
      expect((await refusal(make())).message).toContain(words(most));
    });
  },
);

it('starts no stopped server where more run than the quota allows, and stops none', async () => {
  const running = [await aRentedInstance(app.ctx, alice), await aRentedInstance(app.ctx, alice)];
  const stopped = await aRentedInstance(app.ctx, alice, 'stopped');
  await setQuotas({ cpuOnlyServers: 0 });
  expect((await refusal(alice.client(api.instances.start, { id: stopped }))).message).toBe(
    'CPU-only servers that your plan allows at a time: 0',
  );
  for (const id of running) expect((await alice.client(api.instances.view, { id })).entity.status).toBe('online');
});

it('counts own quotas of one of a person’s Free workspaces in it alone', async () => {
  const home = alice.workspaceId;
  const most = PLAN_LIMITS.Free.projects!;
  const { make, refusal: words } = KINDS.projects;
  for (let n = 0; n < most - 1; n += 1) await aProject(app.ctx, alice);
  const second = (await alice.client(api.clients.create, { name: 'Second' })).entity.clientId;
  await setQuotas({ projects: 3 }, second);
  alice.useWorkspace(second);
  for (let n = 0; n < 3; n += 1) await make();
  expect((await refusal(make())).message).toBe(words(3));
  expect((await alice.client(api.projects.form, {})).projects).toEqual({ used: 3, limit: 3 });

  alice.useWorkspace(home);
  expect((await alice.client(api.projects.form, {})).projects).toEqual({ used: most - 1, limit: most });
  await make();
  expect((await refusal(make())).message).toBe(words(most));
  // Other kinds are shared as before.
  for (let n = 0; n < PLAN_LIMITS.Free.ownServers!; n += 1) await aSelfHostedServer(app.ctx, alice);
  alice.useWorkspace(second);
  expect((await refusal(KINDS.ownServers.make())).message).toBe(KINDS.ownServers.refusal(5));
  await setQuotas({}, second);
  expect((await alice.client(api.projects.form, {})).projects).toEqual({ used: most + 3, limit: most });
});

it('lets 30 members into a Free workspace with 30 seats, however many come at once', async () => {
  await setQuotas({ members: 30 });
  const { code } = await anInvite(app.ctx, alice, { uses: 100 });
  const guests = [];
  for (let n = 0; n < 32; n += 1) guests.push(await app.signUp());
  const came = await Promise.allSettled(guests.map(({ client }) => client(api.invites.join, { code })));
  expect(came.filter(({ status }) => status === 'fulfilled')).toHaveLength(29);
  for (const one of came) if (one.status === 'rejected') expect(one.reason.message).toBe(KINDS.members.refusal(30));
  expect((await alice.client(api.invites.list, {})).seats).toEqual({ plan: 'Free', used: 30, limit: 30 });
});

it('is told to the owners, recorded in both logs, and shown in the list', async () => {
  const { entity } = await operator.client(api.adminClients.editPlan, {
    id: alice.workspaceId,
    plan: 'Team',
    quotas: { members: 30, projects: null },
  });
  expect(entity).toMatchObject({ subscriptionPlan: 'Team', quotas: { members: 30, projects: null } });
  const [mail] = await storedMails(app.ctx, alice.email);
  expect(mail?.subject).toBe('The plan of the workspace Alice’s workspace has changed');
  const detail = { plan: 'Team', quotas: { members: 30, projects: null } };
  expect((await alice.client(api.audit.list, {})).entities[0]).toMatchObject({
    action: 'admin/client/edit-plan',
    actor: null,
    detail,
  });
  expect((await operator.client(api.audit.listForOperators, {})).entities[0]).toMatchObject({
    action: 'admin/client/edit-plan',
    actor: { userId: operator.userId },
    object: { type: 'admin/client', id: String(alice.workspaceId) },
    detail,
  });
  const { userProfile } = await alice.client(api.user.profile, {});
  expect(userProfile.clientRelations[0]?.subscriptionPlan).toBe('Team');
});

it('refuses the second of two edits that began with the same', async () => {
  const { version, id } = await view();
  const edit = (members: number) =>
    operator.client(api.adminClients.editPlan, { id, plan: 'Free', quotas: { members }, version });
  const answers = await Promise.allSettled([edit(10), edit(20)]);
  const refused = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []));
  expect(refused).toMatchObject([{ status: 409 }]);
});

it('refuses limits that are none, each at its field, and a closed workspace', async () => {
  const edit = (quotas: object) =>
    refusal(operator.client(api.adminClients.editPlan, { id: alice.workspaceId, plan: 'Free', quotas }));
  for (const members of [0, -1, 1.5, 1_000_001, '9'])
    expect.soft((await edit({ members })).body, String(members)).toMatchObject({
      message: 'Enter a whole number from 1 to 1,000,000',
      fieldsWithError: ['quotas.members'],
    });
  expect((await edit({ projects: -1 })).body).toMatchObject({
    message: 'Enter a whole number from 0 to 1,000,000',
    fieldsWithError: ['quotas.projects'],
  });
  await app.ctx.db
    .updateTable('workspace')
    .set({ disabled_at: new Date(), deleted_at: new Date() })
    .where('id', '=', alice.workspaceId)
    .execute();
  expect((await edit({})).message).toBe('This workspace has been closed');
});
