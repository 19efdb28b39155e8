import { api } from '@stagi/contract/api.ts';
import type { OperatedProvider, ProviderCheck } from '@stagi/contract/providers.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { becomes, type CloudApp, rentOne, startCloudApp } from '../testing/cloudApp.ts';
import type { Person } from '../testing/person.ts';
import { runCheck } from './providerCheck.ts';

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
  await expect.poll(async () => (await cloud()).check?.endedAt ?? null, { timeout: 30_000 }).not.toBeNull();
  return (await cloud()).check ?? expect.unreachable();
};

it('lists each cloud with what it can do, what runs there and what went wrong last', async () => {
  const { id } = await rentOne(alice);
  await becomes(alice, id, 'online');
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

it('asks a cloud in the background, says what it answered, and writes down who asked', async () => {
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

it('says what the cloud said when it refuses', async () => {
  await app.control.fault('list', { kind: 'internal' }, null);
  await check();
  const { status, steps } = await ended();
  expect(status).toBe('failed');
  const [machines] = steps.filter(({ isDone }) => !isDone);
  expect(machines).toMatchObject({ step: 'machines', count: null, message: expect.stringMatching(/./) });
});

it('has one check of a cloud at a time, however often it is asked for', async () => {
  // So that the first is not over before the last of them is asked for.
  await app.control.fault('list', { kind: 'slow', delayMs: 5_000 });
  const asked = await Promise.all(Array.from({ length: 5 }, check));
  expect(new Set(asked.map(({ id }) => id)).size).toBe(1);
  await ended();
  expect((await check()).id).not.toBe(asked[0]?.id);
  await ended();
});

it('counts a check as failed that nobody ended by its deadline, and begins another', async () => {
  const { id } = await app.ctx.db
    .insertInto('provider_check')
    .values({ provider: 'fake', asked_by: operator.userId, deadline_at: new Date(Date.now() - 1_000) })
    .returning('id')
    .executeTakeFirstOrThrow();
  expect((await cloud()).check).toMatchObject({ id, status: 'failed', endedAt: expect.any(String), steps: [] });
  // A worker that comes too late does nothing.
  await runCheck(app.ctx, id);
  const { rows } = await sql<{ started: boolean }>`
    select started_at is not null as started from provider_check where id = ${id}`.execute(app.ctx.db);
  expect(rows).toEqual([{ started: false }]);
  expect((await check()).id).not.toBe(id);
  expect((await ended()).status).toBe('done');
});

it('knows no other cloud', async () => {
  const reply = await app.post(
    api.providers.check.path,
    { provider: 'elsewhere' },
    { authorization: `Bearer ${operator.tokens().accessToken}`, 'x-client-id': String(operator.workspaceId) },
  );
  expect(reply.status).toBe(404);
});
