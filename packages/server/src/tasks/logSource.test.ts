import { api } from '@stagi/contract/api.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { anApiToken } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';
import { aPlacedRun, aTask } from '../testing/taskFactories.ts';

let app: TestApp;
let alice: Person;
beforeAll(async () => {
  app = await startTestApp({}, { role: 'api' });
  alice = await app.signUp('Alice');
});
afterAll(() => app?.close());

const question = (id: number, run: number) => ({ source: { type: 'task' as const, id, run } });

it('answers the log of a run to who may run tasks, also when its container is deleted', async () => {
  const { taskId, containerId } = await aPlacedRun(app.ctx, alice);
  await app.ctx.db
    .insertInto('log_line')
    .values({ container_id: containerId, seq: 1n, time_ns: 1n, stderr: false, text: 'hello' })
    .execute();
  await app.ctx.db.insertInto('log_head').values({ container_id: containerId, last_seq: 1n }).execute();
  await app.ctx.db.updateTable('container').set({ deleted_at: new Date() }).where('id', '=', containerId).execute();
  expect((await alice.client(api.logging.query, question(taskId, 1))).lines).toMatchObject([{ seq: 1, text: 'hello' }]);
  const only = (await anApiToken(app.ctx, alice, { permissions: ['RUNNING_TASKS'] })).token;
  const without = (await anApiToken(app.ctx, alice, { permissions: ['PROJECT_MANAGEMENT'] })).token;
  const as = (token: string) => ({ authorization: `Bearer ${token}` });
  expect(await app.post('logging/query', question(taskId, 1), as(only))).toMatchObject({
    status: 200,
    body: { lines: [{ text: 'hello' }] },
  });
  expect(await app.post('logging/query', question(taskId, 1), as(without))).toMatchObject({ status: 404 });
  // The other way round: who only runs tasks sees no container.
  const container = { source: { type: 'docker-container', id: containerId } };
  expect(await app.post('logging/query', container, as(only))).toMatchObject({ status: 404 });
});

it('has no lines before the run has a place, and knows no other run', async () => {
  const id = await aTask(app.ctx, alice, 'in queue');
  expect(await alice.client(api.logging.query, question(id, 1))).toMatchObject({ lines: [], lastSeq: 0 });
  await expect(alice.client(api.logging.query, question(id, 2))).rejects.toMatchObject({ status: 404 });
  const bob = await app.signUp('Bob');
  await expect(bob.client(api.logging.query, question(id, 1))).rejects.toMatchObject({ status: 404 });
});
