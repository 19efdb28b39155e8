import { api } from '@stagi/contract/api.ts';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { rentServer, waitForStatus } from '../testing/cloudApp.ts';
import { runProviderCheck } from './providerCheck.ts';
import { aCheckedCloud } from './testing/checkedCloud.ts';

const at = aCheckedCloud();
const { cloud, check, ended } = at;

it('lists each cloud with what it can do, what runs there and what went wrong last', async () => {
  const { id } = await rentServer(at.alice);
  await waitForStatus(at.alice, id, 'online');
  await at.app.ctx.db
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
    (await at.operator.client(api.providers.list, { entityFilterRequest: { queryString, statuses } })).totalCount;
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
  const { entities } = await at.operator.client(api.audit.listForOperators, {});
  expect(entities[0]).toMatchObject({
    action: 'admin/provider/check',
    actor: { name: 'Olga' },
    object: { type: 'provider', label: 'fake' },
    outcome: 'done',
  });
});

it('shows the error of a cloud that refuses', async () => {
  await at.app.control.fault('list', { kind: 'internal' }, null);
  await check();
  const { status, steps } = await ended();
  expect(status).toBe('failed');
  const [machines] = steps.filter(({ isDone }) => !isDone);
  expect(machines).toMatchObject({ step: 'machines', count: null, message: expect.stringMatching(/./) });
});

it('counts a check as failed that has not ended by its deadline, and starts another', async () => {
  const { id } = await at.app.ctx.db
    .insertInto('provider_check')
    .values({ provider: 'fake', asked_by: at.operator.userId, deadline_at: new Date(Date.now() - 1_000) })
    .returning('id')
    .executeTakeFirstOrThrow();
  expect((await cloud()).check).toMatchObject({ id, status: 'failed', endedAt: expect.any(String), steps: [] });
  // A worker that starts after the deadline does nothing.
  await runProviderCheck(at.app.ctx, id);
  const { rows } = await sql<{ started: boolean }>`
    select started_at is not null as started from provider_check where id = ${id}`.execute(at.app.ctx.db);
  expect(rows).toEqual([{ started: false }]);
  expect((await check()).id).not.toBe(id);
  expect((await ended()).status).toBe('done');
});

it('refuses an unknown cloud', async () => {
  const reply = await at.app.post(
    api.providers.check.path,
    { provider: 'elsewhere' },
    { authorization: `Bearer ${at.operator.tokens().accessToken}`, 'x-client-id': String(at.operator.workspaceId) },
  );
  expect(reply.status).toBe(404);
});
