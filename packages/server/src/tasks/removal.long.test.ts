import { api } from '@stagi/contract/api.ts';
import type { TaskStatus } from '@stagi/contract/taskRules.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { transitionInstance } from '../instances/status.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { makeOperator, markSteppedUp } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';
import { aConnectedServer, expectNothingLeft, type TaskServer } from './testing/taskServer.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app?.close());

const STATES = ['waiting', 'paused before a retry', 'preparing', 'running', 'saving', 'canceling'] as const;
type State = (typeof STATES)[number];
type Tasks = Record<State, number>;

/** One task in each state, on one server. */
async function inAllStates(by: Person, server: TaskServer): Promise<Tasks> {
  const { daemon } = server;
  daemon.behaviour.prepares = false;
  daemon.behaviour.saves = false;
  const submit = () => server.submit({ cpus: 0.1 });
  const begun = async (): Promise<[number, number]> => {
    const id = await submit();
    const container = await server.containerOf(id);
    await expect.poll(() => daemon.shown(container)?.state, { timeout: 10_000 }).toBe('created');
    return [id, container];
  };
  const [preparing] = await begun();
  const [running, runningIn] = await begun();
  const [saving, savingIn] = await begun();
  const [canceling, cancelingIn] = await begun();
  for (const container of [runningIn, savingIn, cancelingIn]) daemon.start(container);
  for (const id of [running, saving, canceling]) await server.reaches(id, 'running');
  daemon.end(savingIn, 0);
  await expect.poll(async () => (await server.view(saving)).statusReason).toBe('Its output is being stored');
  await by.client(api.tasks.cancel, { id: canceling });
  await expect.poll(() => daemon.shown(cancelingIn)?.state).toBe('exited');
  const again = await server.submit({
    cpus: 0.1,
    status: 'scheduled',
    not_before: new Date(Date.now() + 3_600_000),
    status_reason: 'It is tried again: Its server restarted',
  });
  const waiting = await server.submit({ cpus: 4 });
  await server.reaches(waiting, 'in queue');
  return { waiting, 'paused before a retry': again, preparing, running, saving, canceling };
}

const moveServer = async (server: TaskServer, ...statuses: string[]): Promise<void> => {
  for (const status of statuses)
    await app.ctx.db.transaction().execute((trx) => transitionInstance(app.ctx, trx, server.id, status, {}));
};

const ALL_CANCELED: Record<State, TaskStatus> = {
  waiting: 'canceled',
  'paused before a retry': 'canceled',
  preparing: 'canceled',
  running: 'canceled',
  saving: 'canceled',
  canceling: 'canceled',
};
const ONLY_WAITING_CANCELED: Record<State, TaskStatus> = {
  ...ALL_CANCELED,
  preparing: 'in queue',
  running: 'running',
  saving: 'running',
};
const PLACED_FAIL: Record<State, TaskStatus> = {
  ...ALL_CANCELED,
  preparing: 'failed',
  running: 'failed',
  saving: 'failed',
};

interface Removal {
  happens(by: Person, server: TaskServer): Promise<unknown>;
  outcome: Record<State, TaskStatus>;
  reason: string;
  kind?: 'self-hosted';
  /** All must have followed within 2 s. */
  isQuick?: boolean;
}

const REMOVALS: Record<string, Removal> = {
  'the deletion of the project': {
    happens: async (by, { projectId }) => {
      const { slug } = (await by.client(api.projects.view, { id: projectId })).entity;
      await by.client(api.projects.delete, { id: projectId, slugTyped: slug });
    },
    outcome: ALL_CANCELED,
    reason: 'Its project was deleted',
  },
  'archiving the project': {
    happens: (by, { projectId }) => by.client(api.projects.archive, { id: projectId }),
    outcome: ONLY_WAITING_CANCELED,
    reason: 'Its project was archived',
  },
  'the deletion of the storage': {
    happens: async (by, { storageId }) => {
      const { slug } = (await by.client(api.storages.view, { id: storageId })).entity;
      await by.client(api.storages.delete, { id: storageId, slugTyped: slug });
    },
    outcome: ALL_CANCELED,
    reason: 'Its storage was deleted',
  },
  'the end of the server': {
    happens: (_, server) => moveServer(server, 'terminating', 'terminated'),
    outcome: PLACED_FAIL,
    reason: 'Its server is gone',
  },
  'the deletion of an own server': {
    happens: (by, { id }) => by.client(api.selfHosted.delete, { id }),
    outcome: PLACED_FAIL,
    reason: 'Its server is gone',
    kind: 'self-hosted',
  },
  'a stop of the server': {
    happens: (_, server) => moveServer(server, 'powering off', 'stopped'),
    outcome: { ...PLACED_FAIL, waiting: 'scheduled', 'paused before a retry': 'scheduled' },
    reason: 'Its server is not online',
  },
  'detaching the server': {
    happens: (by, { projectId, id }) =>
      by.client(api.projects.detachInstance, { projectRef: { id: projectId }, instanceRef: { id } }),
    outcome: ONLY_WAITING_CANCELED,
    reason: 'Its server was detached from the project',
  },
  'disabling the workspace': {
    happens: async ({ workspaceId }) => {
      const operator = await app.signUp('Operator');
      await makeOperator(app.ctx, operator);
      await markSteppedUp(app.ctx, operator);
      await operator.client(api.adminClients.disable, { id: workspaceId, reason: 'For a test', terminate: false });
    },
    outcome: ALL_CANCELED,
    reason: 'The workspace was disabled by an operator',
    kind: 'self-hosted',
    isQuick: true,
  },
};

let cases = 0;
afterAll(() => console.log(`tasks in each state × removals: n = ${cases}`));

describe.each(Object.entries(REMOVALS))('%s', (event, { happens, outcome, reason, kind, isQuick }) => {
  it('ends tasks in each state by its rule, and leaves nothing behind', { timeout: 60_000 }, async () => {
    const alice = await app.signUp('Alice');
    const server = await aConnectedServer(app, alice, kind ? { kind } : {});
    const tasks = await inAllStates(alice, server);
    const rowOf = (id: number) =>
      app.ctx.db
        .selectFrom('task')
        .select(['status', 'status_reason', 'status_since'])
        .where('id', '=', id)
        .executeTakeFirstOrThrow();
    const statuses = async () =>
      Object.fromEntries(
        await Promise.all(STATES.map(async (state) => [state, (await rowOf(tasks[state])).status] as const)),
      );
    // Its output is never stored: it stays where it is until something ends it.
    await expect.poll(statuses).toMatchObject({ canceling: 'canceling' });
    const happenedAt = performance.now();
    await happens(alice, server);
    server.daemon.behaviour.saves = true;
    for (const state of ['saving', 'canceling'] as const) {
      if (outcome[state] !== 'canceled') continue;
      // Stored before that, its end would be its own.
      await expect.poll(async () => (await statuses())[state], { timeout: 10_000, interval: 20 }).toMatch(/^cancel/);
      const container = await server.containerOf(tasks[state]);
      if (server.daemon.shown(container)) server.daemon.report(container, { phase: 'saved' });
    }
    await expect.poll(statuses, { timeout: 10_000, interval: 20 }).toEqual(outcome);
    const tookMs = performance.now() - happenedAt;
    console.log(`${event}: all tasks followed within ${tookMs.toFixed(0)} ms, n = 1 with ${STATES.length} tasks`);
    if (isQuick) expect(tookMs).toBeLessThan(2_000);
    await expect.poll(async () => (await rowOf(tasks.waiting)).status_reason).toBe(reason);
    cases += STATES.length;

    // What goes on ends well.
    for (const state of ['preparing', 'running', 'saving'] as const)
      if (outcome[state] === 'in queue' || outcome[state] === 'running') {
        const container = await server.containerOf(tasks[state]);
        if (state === 'preparing') server.daemon.start(container);
        if (state !== 'saving') server.daemon.end(container, 0);
        server.daemon.report(container, { phase: 'saved' });
        await server.reaches(tasks[state], 'done');
      }
    for (const state of ['waiting', 'paused before a retry'] as const)
      if (outcome[state] === 'scheduled') await alice.client(api.tasks.cancel, { id: tasks[state] });
    await expectNothingLeft(app, alice.workspaceId);
    expect(Math.max(0, ...server.daemon.starts.values())).toBe(1);
    await server.daemon.close();
  });
});
