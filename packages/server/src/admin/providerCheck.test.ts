import { api } from '@stagi/contract/api.ts';
import type { OperatedProvider, ProviderCheck } from '@stagi/contract/providers.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type CloudApp, rentServer, startCloudApp, waitForStatus } from '../testing/cloudApp.ts';
import type { Person } from '../testing/person.ts';
import { runProviderCheck } from './providerCheck.ts';

let app: CloudApp;
let alice: Person;
let operator: Person;
beforeAll(async () => {
  app = await startCloudApp();
  alice = await app.signUp();
  operator = await app.signUp('Olga');
  await app.ctx.db.updateTable('app_user').set({ is_employee: true }).where('id', '=', operator.userId).execute();
});
afterAll(() => app?.close());
beforeEach(async () => {
  await app.control.clearFaults();
  await app.ctx.db.deleteFrom('provider_check').execute();
});

const cloud = async (): Promise<OperatedProvider> => {
  const { entities } = await operator.client(api.providers.list, {});
  const [only] = entities;
  if (!only) return expect.unreachable('there is one cloud');
  return only;
};
const check = async (): Promise<ProviderCheck> =>
  (await operator.client(api.providers.check, { provider: 'fake' })).entity;
const ended = async (): Promise<ProviderCheck> => {
  await expect.poll(async () => (await cloud()).check?.endedAt ?? null, { timeout: 60_000 }).not.toBeNull();
  return (await cloud()).check ?? expect.unreachable();
};

it('lists each cloud with what it can do, what runs there and what went wrong last', async () => {
  const { id } = await rentServer(alice);
  await waitForStatus(alice, id, 'online');
  await app.ctx.db
    .insertInto('provider_op')
    .values({
      id: crypto.randomUUID(),
      instance_id: id,
      kind: 'reboot',
      gen: 99,
      state: 'failed',
      error: 'sold out',
      finished_at: new Date(),
    })
    .execute();
  expect(await cloud()).toMatchObject({
    provider: 'fake',
    title: 'Simulated cloud',
    state: 'ready',
    simulated: true,
    openInstances: 1,
    strays: 0,
    can: { stop: true, reboot: true },
    readiness: expect.stringMatching(/daemon|provider/),
    lastError: { action: 'reboot', message: 'sold out', instanceId: id },
    check: null,
  });
  const found = async (queryString: string, statuses?: string[]) =>
    (await operator.client(api.providers.list, { entityFilterRequest: { queryString, statuses } })).totalCount;
  expect([await found('simul'), await found('amazon'), await found('', ['unavailable'])]).toEqual([1, 0, 0]);
});

it('checks a cloud in the background, shows its answers, and records who requested it', async () => {
  expect(await check()).toMatchObject({ provider: 'fake', askedBy: 'Olga', endedAt: null, steps: [] });
  const { steps, status } = await ended();
  expect(status).toBe('done');
  expect(steps.map(({ step, isDone }) => [step, isDone])).toEqual([
    ['readiness', true],
    ['offers', true],
    ['machines', true],
  ]);
  expect(steps[1]?.count).toBeGreaterThan(0);
  const { entities } = await operator.client(api.audit.listForOperators, {});
  expect(entities[0]).toMatchObject({
    action: 'admin/provider/check',
    actor: { name: 'Olga' },
    object: { type: 'provider', label: 'fake' },
    outcome: 'done',
  });
});

it('shows the error of a cloud that refuses', async () => {
  await app.control.fault('list', { kind: 'internal' }, null);
  await check();
  const { status, steps } = await ended();
  expect(status).toBe('failed');
  const [machines] = steps.filter(({ isDone }) => !isDone);
  expect(machines).toMatchObject({ step: 'machines', count: null, message: expect.stringMatching(/./) });
});

it('runs one check of a cloud at a time, however often it is requested', async () => {
  // Keeps the first from ending before the last is requested.
  await app.control.fault('list', { kind: 'slow', delayMs: 5_000 });
  const asked = await Promise.all(Array.from({ length: 5 }, check));
  expect(new Set(asked.map(({ id }) => id)).size).toBe(1);
  await ended();
  expect((await check()).id).not.toBe(asked[0]?.id);
  await ended();
});

it('counts a check as failed that has not ended by its deadline, and starts another', async () => {
  const { id } = await app.ctx.db
    .insertInto('provider_check')
    .values({ provider: 'fake', asked_by: operator.userId, deadline_at: new Date(Date.now() - 1_000) })
    .returning('id')
    .executeTakeFirstOrThrow();
  expect((await cloud()).check).toMatchObject({ id, status: 'failed', endedAt: expect.any(String), steps: [] });
  // A worker that starts after the deadline does nothing.
  await runProviderCheck(app.ctx, id);
  const { rows } = await sql<{ started: boolean }>`
    select started_at is not null as started from provider_check where id = ${id}`.execute(app.ctx.db);
  expect(rows).toEqual([{ started: false }]);
  expect((await check()).id).not.toBe(id);
  expect((await ended()).status).toBe('done');
});

it('refuses an unknown cloud', async () => {
  const reply = await app.post(
    api.providers.check.path,
    { provider: 'elsewhere' },
    { authorization: `Bearer ${operator.tokens().accessToken}`, 'x-client-id': String(operator.workspaceId) },
  );
  expect(reply.status).toBe(404);
});
