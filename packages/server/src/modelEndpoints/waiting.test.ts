import { api } from '@stagi/contract/api.ts';
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { aKey } from '../testing/cloudApp.ts';
import { aModelsApp, L4, LLAMA } from './testing/modelsApp.ts';

const at = aModelsApp();

describe('deploying a model on a server that is rented for it', () => {
  /** A plan allows one server with a GPU at a time. */
  const asSomebodyNew = async () => {
    at.alice = await at.app.signUp();
  };
  beforeEach(asSomebodyNew);
  let rented = 0;
  const rental = async (offerId: string) => {
    rented += 1;
    return { offerId, title: 'For a model', slug: `for-model-${rented}`, sshKeyId: await aKey(at.alice) };
  };

  it('waits for the server and makes the container then', async () => {
    const endpoint = await at.deploy({ modelRef: LLAMA, quality: 'XL', rent: await rental('fake:sim-l4-1') });
    expect(endpoint).toMatchObject({ status: 'waiting for server', container: null, gpuCount: 1 });
    expect(Date.parse(endpoint.deadline!)).toBeGreaterThan(Date.now());
    await expect
      .poll(async () => (await at.view(endpoint.id)).instance.status, { timeout: 60_000 })
      .toMatch(/creating|online/);
    const daemon = await at.join(endpoint.instance.id, { gpus: [L4], cpus: 8, ramBytes: 32 * 2 ** 30 });
    await expect.poll(async () => (await at.view(endpoint.id)).status, { timeout: 60_000 }).toBe('creating');
    const desired = await daemon.desired(({ containers }) => containers.length > 0);
    expect(desired.containers[0]!.spec.gpuIds).toEqual([0]);
    const { wanted_sealed } = await at.app.ctx.db
      .selectFrom('model_endpoint')
      .select('wanted_sealed')
      .where('id', '=', endpoint.id)
      .executeTakeFirstOrThrow();
    expect(wanted_sealed).toBeNull();
  });

  it('fails with the reason when there is no server, or when it is refused there', async () => {
    const gone = await at.deploy({ rent: await rental('fake:sim-l4-1') });
    await at.alice.client(api.instances.terminate, { id: gone.instance.id });
    await expect.poll(async () => (await at.view(gone.id)).status).toBe('failed');
    await asSomebodyNew();
    const late = await at.deploy({ rent: await rental('fake:sim-l4-1') });
    await sql`update model_endpoint set server_deadline = now() - interval '1 second' where id = ${late.id}`.execute(
      at.app.ctx.db,
    );
    await expect
      .poll(async () => await at.view(late.id))
      .toMatchObject({
        status: 'failed',
        reason: 'Its server was not online in time',
      });
    await asSomebodyNew();
    const refused = await at.deploy({ rent: await rental('fake:sim-l4-1') });
    await at.join(refused.instance.id, { gpus: [], cpus: 8 });
    await expect
      .poll(async () => await at.view(refused.id), { timeout: 60_000 })
      .toMatchObject({ status: 'failed', reason: 'The server has too few free GPUs' });
  });

  it('names the fields of the rent, and charges nothing when it is refused', async () => {
    const before = await at.alice.client(api.instances.list, {});
    const rent = { ...(await rental('fake:sim-l4-1')), sshKeyId: 999_999 };
    await expect(at.deploy({ rent })).rejects.toMatchObject({ body: { fieldsWithError: ['rent.sshKeyId'] } });
    await expect(
      at.deploy({ modelRef: { id: 'meta-llama/Llama-3.3-70B-Instruct' }, rent: await rental('fake:sim-l4-1') }),
    ).rejects.toMatchObject({ body: { fieldsWithError: ['instanceRef'] } });
    const gone = { ...(await rental('fake:sim-l4-1')), offerId: 'fake:no-such-offer' };
    await expect(at.deploy({ rent: gone })).rejects.toMatchObject({
      body: { message: 'This server is no longer available. Choose another one.' },
    });
    expect((await at.alice.client(api.instances.list, {})).totalCount).toBe(before.totalCount);
  });

  it('is cancelled while it waits', async () => {
    const endpoint = await at.deploy({ rent: await rental('fake:sim-l4-1') });
    await at.alice.client(api.modelEndpoints.delete, { id: endpoint.id });
    await expect(at.view(endpoint.id)).rejects.toMatchObject({ status: 404 });
  });
});
