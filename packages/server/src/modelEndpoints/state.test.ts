import { api } from '@stagi/contract/api.ts';
import type { ActualContainer } from '@stagi/contract/daemon.ts';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { line, openLog } from '../logging/testing/shipped.ts';
import { aModelsApp, L4 } from './testing/modelsApp.ts';

const at = aModelsApp();

describe('a served model that cannot be asked', () => {
  it('says why', async () => {
    const { id, daemon } = await at.aServer([L4]);
    const endpoint = await at.deploy({ instanceRef: { id } });
    const ask = () =>
      at.alice.client(api.modelEndpoints.run, {
        endpointRef: { id: endpoint.id },
        messages: [{ role: 'user', content: 'Hello' }],
      });
    await expect(ask()).rejects.toMatchObject({ body: { message: 'Its container does not run' } });
    daemon.applyDesired(await daemon.desired(({ containers }) => containers.length > 0));
    await expect.poll(async () => (await at.view(endpoint.id)).status).toBe('loading');
    // This daemon serves no streams.
    const { entity } = await at.alice.client(api.modelEndpoints.check, { id: endpoint.id });
    expect(entity).toMatchObject({
      status: 'loading',
      reason: 'The agent of this server is too old for this: install it again',
      answeredAt: null,
    });
    expect(entity.checkedAt).not.toBeNull();
    await expect(ask()).rejects.toMatchObject({ body: { message: entity.reason } });
  });
});

describe('a served model whose engine ends at once', () => {
  it('says so with exit code and last line, and is ready to load again once its engine stays', async () => {
    const { id, daemon } = await at.aServer([L4]);
    const endpoint = await at.deploy({ instanceRef: { id }, port: 8000 });
    const { id: containerId } = endpoint.container!;
    daemon.applyDesired(await daemon.desired(({ containers }) => containers.length > 0));
    await expect.poll(async () => (await at.view(endpoint.id)).status).toBe('loading');
    const log = await openLog(daemon, containerId);
    await log.print(line('OSError: You are trying to access a gated repo.'), line('   '));
    const report = (more: Partial<ActualContainer>) => {
      daemon.inventory.containers = daemon.inventory.containers.map((one) => ({ ...one, ...more }));
      daemon.sendInventory();
    };
    const now = () => new Date().toISOString();
    report({ state: 'restarting', exitCode: 1, restarts: 11, finishedAt: now() });
    await expect
      .poll(async () => await at.view(endpoint.id))
      .toMatchObject({
        status: 'failed',
        reason: 'Its engine ended with exit code 1 and is started again',
        lastLine: 'OSError: You are trying to access a gated repo.',
        deadline: null,
      });
    report({ state: 'running', exitCode: null, startedAt: now() });
    await expect.poll(async () => (await at.container(containerId)).restarts?.nextTryAt).toBeNull();
    expect((await at.view(endpoint.id)).status).toBe('failed');
    await sql`update container set looping_until = now() where id = ${containerId}`.execute(at.app.ctx.db);
    await expect
      .poll(async () => await at.view(endpoint.id))
      .toMatchObject({ status: 'loading', reason: 'Its engine ended with exit code 1 and is started again' });
    report({ state: 'exited', exitCode: 137, finishedAt: now() });
    await expect
      .poll(async () => await at.view(endpoint.id))
      .toMatchObject({ status: 'failed', reason: 'It ended with exit code 137' });
  });
});
