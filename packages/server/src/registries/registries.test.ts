import { api } from '@stagi/contract/api.ts';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { readyServer } from '../containers/testing/readyServer.ts';
import { connectDaemon } from '../testing/daemon.ts';
import { anApiToken, aRentedInstance, aSelfHostedServer } from '../testing/factories.ts';

const SECRET = 'canary-secret-4d1b';

describe('credentials of registries', () => {
  const { at, join, create, view, wanted } = readyServer();
  const add = (more = {}) =>
    at.alice.client(api.registries.add, { host: 'ghcr.io', username: 'ada', secret: SECRET, ...more });
  const list = async () => (await at.alice.client(api.registries.list, {})).entities;
  /** What the daemon is answered for a container. */
  async function asked(containerId: number, gen = 1) {
    const before = at.daemon.received.filter(({ type }) => type === 'pull-auth').length;
    at.daemon.send({ type: 'pull-auth', containerId, gen });
    await expect
      .poll(() => at.daemon.received.filter(({ type }) => type === 'pull-auth').length)
      .toBeGreaterThan(before);
    const answers = at.daemon.received.filter((message) => message.type === 'pull-auth');
    return answers.at(-1)!.auth;
  }

  it('are stored sealed, listed without their secret, replaced by host, and deleted', async () => {
    const { entity } = await add({ host: ' GHCR.io ' });
    expect(entity).toMatchObject({ host: 'ghcr.io', username: 'ada', createdBy: expect.any(String) });
    const { entity: replaced } = await add({ username: 'grace' });
    expect(replaced.id).toBe(entity.id);
    expect(Date.parse(replaced.createdAt)).toBeGreaterThan(Date.parse(entity.createdAt));
    expect((await list()).map(({ host, username }) => [host, username])).toEqual([['ghcr.io', 'grace']]);
    const { rows } = await sql<{ row: string }>`select c::text as row from registry_credential c`.execute(
      at.app.ctx.db,
    );
    const shown = [JSON.stringify(entity), JSON.stringify(await list()), ...rows.map(({ row }) => row)];
    expect(shown.filter((text) => text.includes(SECRET))).toEqual([]);
    await at.alice.client(api.registries.remove, { id: (await list())[0]!.id });
    expect(await list()).toEqual([]);
  });

  it.each([
    ['https://ghcr.io', 'Enter the host alone, without https:// and without a path'],
    ['ghcr.io/owner', 'Enter the host alone, without https:// and without a path'],
    ['ghcr', 'Enter a host like ghcr.io or registry.example.com:5000'],
    ['a b.io', 'Enter a host like ghcr.io or registry.example.com:5000'],
    ['ghcr.io:http', 'Enter a host like ghcr.io or registry.example.com:5000'],
    ['', 'Registry is required'],
  ])('refuses %j as a host, at its field', async (host, message) => {
    const answer = await at.app.post(
      'docker-container/registry/add',
      { host, username: 'ada', secret: SECRET },
      {
        authorization: `Bearer ${at.alice.tokens().accessToken}`,
        'x-client-id': String(at.alice.workspaceId),
        'idempotency-key': `host ${host}`,
      },
    );
    expect(answer).toMatchObject({ status: 400, body: { message, fieldsWithError: ['host'] } });
  });

  it.each(['docker.io', 'index.docker.io', 'registry-1.docker.io'])('takes %s for Docker Hub', async (host) => {
    expect((await add({ host })).entity.host).toBe('docker.io');
    const { id } = await create({ dockerImage: 'owner/private:1' });
    expect(await asked(id)).toEqual({ serveraddress: 'docker.io', username: 'ada', password: SECRET });
  });

  it('are given to the servers that were there when they were stored, and to rented ones', async () => {
    const ask = async (instanceId: number, kind: 'rented' | 'self-hosted') => {
      const daemon = await connectDaemon(at.app.url, await join(instanceId, kind));
      const { id } = await create({ instanceRef: { id: instanceId }, dockerImage: 'ghcr.io/o/n:1' });
      daemon.send({ type: 'pull-auth', containerId: id, gen: 1 });
      await expect.poll(() => daemon.received.some(({ type }) => type === 'pull-auth')).toBe(true);
      await daemon.close();
      return daemon.received.find((message) => message.type === 'pull-auth')!.auth;
    };
    const auth = { serveraddress: 'ghcr.io', username: 'ada', password: SECRET };
    const known = await aSelfHostedServer(at.app.ctx, at.alice);
    const { entity } = await add();
    expect(entity).toMatchObject({ isForRented: true, ownServers: [{ id: known }] });
    const attached = await aSelfHostedServer(at.app.ctx, at.alice);
    const rented = await aRentedInstance(at.app.ctx, at.alice);
    expect([await ask(known, 'self-hosted'), await ask(attached, 'self-hosted'), await ask(rented, 'rented')]).toEqual([
      auth,
      null,
      auth,
    ]);
    const { token } = await anApiToken(at.app.ctx, at.alice, { permissions: ['SELFHOSTED_INSTANCE_MANAGEMENT'] });
    const body = { host: 'quay.io', username: 'eve', secret: 'x' };
    const answer = await at.app.post('docker-container/registry/add', body, {
      authorization: `Bearer ${token}`,
      'idempotency-key': 'own',
    });
    expect(answer.body).toMatchObject({ entity: { isForRented: false, ownServers: [{}, {}] } });
    await add();
    expect(await ask(attached, 'self-hosted')).toEqual(auth);
  });

  it('are given for the registry of the image alone, and are in no desired state', async () => {
    await add();
    const [own, other] = [
      await create({ dockerImage: 'ghcr.io/o/n:1' }),
      await create({ dockerImage: 'quay.io/o/n:1' }),
    ];
    expect(await asked(own.id)).toEqual({ serveraddress: 'ghcr.io', username: 'ada', password: SECRET });
    const nothing = [
      await asked(other.id),
      // Another generation, another container, none at all.
      await asked(own.id, 2),
      await asked((await create({ dockerImage: 'evil.example/ghcr.io/o/n' })).id),
      await asked(999_999),
    ];
    expect(nothing).toEqual([null, null, null, null]);
    const state = await wanted(own.id);
    expect(JSON.stringify(state)).not.toContain(SECRET);
    await at.alice.client(api.containers.delete, { id: own.id });
    expect(await asked(own.id)).toBeNull();
    expect(await asked(own.id, 2)).toBeNull();
    console.log(`pull-auth: n = ${nothing.length + 2} questions for what is not theirs, 0 answered`);
  });

  it('of one workspace are not given to servers of another', async () => {
    await add();
    const mallory = await at.app.signUp();
    await mallory.client(api.registries.add, { host: 'ghcr.io', username: 'mallory', secret: 'other' });
    expect((await mallory.client(api.registries.list, {})).entities.map(({ username }) => username)).toEqual([
      'mallory',
    ]);
    const id = (await list()).find(({ host }) => host === 'ghcr.io')?.id ?? 0;
    await expect(mallory.client(api.registries.remove, { id })).rejects.toMatchObject({ status: 404 });
    const container = await create({ dockerImage: 'ghcr.io/o/n:1' });
    expect(await asked(container.id)).toMatchObject({ username: 'ada' });
  });

  it('that were refused keep the container waiting, and a changed one has it tried again', async () => {
    const { id } = await create({ dockerImage: 'ghcr.io/o/n:1' });
    const elsewhere = await create({ dockerImage: 'quay.io/o/n:1' });
    const message = 'The registry refused the user name and password for ghcr.io';
    for (const containerId of [id, elsewhere.id])
      at.daemon.send({
        type: 'failed',
        containerId,
        gen: 1,
        phase: 'pull',
        message,
        permanent: true,
        waitsFor: 'credential',
      });
    await expect
      .poll(() => view(id))
      .toMatchObject({
        status: 'creating',
        failedStep: { phase: 'pull', cause: message, nextTryAt: null, waitsFor: 'credential' },
      });
    await expect.poll(() => view(elsewhere.id)).toMatchObject({ failedStep: { waitsFor: 'credential' } });
    await add({ secret: 'the right one' });
    expect(await view(id)).toMatchObject({ status: 'creating', failedStep: null });
    const { containers } = await at.daemon.desired(({ containers }) =>
      containers.some((one) => one.id === id && one.gen === 2),
    );
    expect(containers.find((one) => one.id === elsewhere.id)?.gen).toBe(1);
  });

  it('are written to the audit log without their secret', async () => {
    const { entity } = await add({ host: 'audit.example' });
    const { entities } = await at.alice.client(api.audit.list, {});
    expect(entities[0]).toMatchObject({
      action: 'docker-container/registry/add',
      outcome: 'done',
      object: { type: 'docker-container/registry', id: String(entity.id), label: 'audit.example' },
    });
    expect(JSON.stringify(entities)).not.toContain(SECRET);
  });
});
