import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { api } from '@stagi/contract/api.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { authorizedKeys, recordInstalledKeys } from '../instances/sshAccess.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { aRentedInstance, aSelfHostedServer } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';
import { generateKeyPair } from './generate.ts';

let app: TestApp;
let alice: Person;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app?.close());
beforeEach(async () => {
  alice = await app.signUp();
});

const aPublicKey = async () => (await generateKeyPair('ed25519', 'me@home')).publicKey;

async function add(person: Person, title = 'laptop') {
  const publicKey = await aPublicKey();
  const { entity } = await person.client(api.sshKeys.add, { title, publicKey });
  return entity;
}

describe('SSH keys', () => {
  it('are added, listed newest first, found by text and deleted', async () => {
    const laptop = await add(alice, 'Laptop');
    const desk = await add(alice, 'Desk');
    expect(laptop).toMatchObject({
      title: 'Laptop',
      type: 'ssh-ed25519',
      publicKey: expect.stringMatching(/^ssh-ed25519 \S+ me@home$/),
      fingerprint: expect.stringMatching(/^SHA256:\S{43}$/),
      fileName: null,
      instanceCount: 0,
    });
    const list = async (request = {}) => {
      const { entities } = await alice.client(api.sshKeys.list, { entityFilterRequest: request });
      return entities.map(({ id }) => id);
    };
    expect(await list()).toEqual([desk.id, laptop.id]);
    expect(await list({ orderByField: 'title', orderByDirection: 'desc' })).toEqual([laptop.id, desk.id]);
    expect(await list({ queryString: 'lap' })).toEqual([laptop.id]);
    expect(await list({ queryString: desk.fingerprint })).toEqual([desk.id]);
    await alice.client(api.sshKeys.delete, { id: laptop.id });
    expect(await list()).toEqual([desk.id]);
    await expect(alice.client(api.sshKeys.delete, { id: laptop.id })).rejects.toMatchObject({ status: 404 });
  });

  it('belong to one user: another may add the same key, and nobody can delete somebody else’s', async () => {
    const publicKey = await aPublicKey();
    const bob = await app.signUp();
    const { entity } = await alice.client(api.sshKeys.add, { title: 'shared', publicKey });
    await bob.client(api.sshKeys.add, { title: 'shared', publicKey });
    await expect(bob.client(api.sshKeys.delete, { id: entity.id })).rejects.toMatchObject({ status: 404 });
    expect((await alice.client(api.sshKeys.list, {})).totalCount).toBe(1);
  });

  it.each([
    [{ title: '' }, 'title', 'Title is required'],
    [{ publicKey: '' }, 'publicKey', 'SSH key is required'],
    [{ publicKey: 'ssh-ed25519 AAAA' }, 'publicKey', 'Invalid SSH key'],
  ])('are refused at the field: %j', async (change, field, message) => {
    const input = { title: 'laptop', publicKey: await aPublicKey(), ...change };
    await expect(alice.client(api.sshKeys.add, input)).rejects.toMatchObject({
      status: 400,
      body: { message, fieldsWithError: [field] },
    });
  });

  it('are refused as duplicates, whatever their comment, also in parallel', async () => {
    const publicKey = await aPublicKey();
    const bare = publicKey.split(' ', 2).join(' ');
    const results = await Promise.allSettled(
      [publicKey, bare, `${bare} other`].map((text) => alice.client(api.sshKeys.add, { title: 'x', publicKey: text })),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const refused = results.filter((result) => result.status === 'rejected');
    for (const { reason } of refused) {
      expect(reason).toMatchObject({
        status: 400,
        body: { message: 'This SSH key has already been added', fieldsWithError: ['publicKey'] },
      });
    }
  });

  it.each(['ed25519', 'rsa'] as const)('are generated (%s), the private half shown once', async (type) => {
    const privateKeyFile = join(app.dataDir, 'generated');
    const idempotencyKey = crypto.randomUUID();
    const made = await alice.client(api.sshKeys.generate, { title: 'made here', type }, { idempotencyKey });
    writeFileSync(privateKeyFile, made.privateKey, { mode: 0o600 });
    const derived = execFileSync('ssh-keygen', ['-y', '-f', privateKeyFile], { encoding: 'utf8' });
    rmSync(privateKeyFile);
    expect(derived.split(' ', 2)).toEqual(made.entity.publicKey.split(' ', 2));
    // A retry with the same Idempotency-Key returns a lost answer; nothing is stored in the clear.
    expect(made.entity.fileName).toBe(`stagi-${type}-${made.entity.id}`);
    const server = await aRentedInstance(app.ctx, alice);
    const access = await alice.client(api.instances.addSshKey, { id: server, sshKeyId: made.entity.id });
    expect(access.entity).toMatchObject({ isMine: true, fileName: made.entity.fileName });
    const again = await alice.client(api.sshKeys.generate, { title: 'made here', type }, { idempotencyKey });
    expect(again.privateKey).toBe(made.privateKey);
    const stored = await app.ctx.db.selectFrom('idempotency').select('body_sealed').execute();
    expect(JSON.stringify(stored)).not.toContain('OPENSSH');
    expect(JSON.stringify(await alice.client(api.sshKeys.list, {}))).not.toContain('PRIVATE');
  });
});

describe('the keys of a server', () => {
  it('are added and removed while it runs, and confirmed by its daemon', async () => {
    const id = await aRentedInstance(app.ctx, alice);
    const key = await add(alice);
    const { entity } = await alice.client(api.instances.addSshKey, { id, sshKeyId: key.id });
    expect(entity).toMatchObject({
      id: key.id,
      fingerprint: key.fingerprint,
      isMine: true,
      fileName: null,
      installedAt: null,
    });
    const [line] = (await authorizedKeys(app.ctx.db, id))!;
    expect(line).toBe(`${key.publicKey.split(' ', 2).join(' ')} stagi-key-${key.id}`);

    await recordInstalledKeys(app.ctx.db, id, ['ssh-rsa AAAA unknown', line!]);
    const access = async () => (await alice.client(api.instances.sshKeys, { id })).entities;
    expect(await access()).toMatchObject([{ id: key.id, installedAt: expect.any(String) }]);
    expect((await alice.client(api.sshKeys.list, {})).entities[0]!.instanceCount).toBe(1);
    await recordInstalledKeys(app.ctx.db, id, []);
    expect(await access()).toMatchObject([{ installedAt: null }]);

    const twice = alice.client(api.instances.addSshKey, { id, sshKeyId: key.id });
    await expect(twice).rejects.toMatchObject({ status: 400, body: { fieldsWithError: ['sshKeyId'] } });
    await alice.client(api.instances.removeSshKey, { id, sshKeyId: key.id });
    expect(await access()).toEqual([]);
    expect(await authorizedKeys(app.ctx.db, id)).toEqual([]);
    const { entities } = await alice.client(api.instances.activities, { id });
    expect(entities.map(({ kind, detail }) => [kind, detail])).toEqual([
      ['ssh key removed', `laptop (${key.fingerprint})`],
      ['ssh key added', `laptop (${key.fingerprint})`],
    ]);
  });

  it('no longer include one that its owner deletes, and the nodes are notified', async () => {
    const id = await aRentedInstance(app.ctx, alice);
    const key = await add(alice);
    await alice.client(api.instances.addSshKey, { id, sshKeyId: key.id });
    const told = new Promise<number>((resolve) => {
      const stop = app.ctx.bus.subscribe('node', ({ instanceId }) => {
        stop();
        resolve(instanceId);
      });
    });
    await alice.client(api.sshKeys.delete, { id: key.id });
    expect(await told).toBe(id);
    expect(await authorizedKeys(app.ctx.db, id)).toEqual([]);
  });

  it('can be added only by their owner, and removed by any member of the workspace', async () => {
    const bob = await app.signUp();
    const { db } = app.ctx;
    await db
      .insertInto('membership')
      .values({ workspace_id: alice.workspaceId, user_id: bob.userId, role: 'Developer' })
      .execute();
    bob.useWorkspace(alice.workspaceId);
    const id = await aRentedInstance(app.ctx, alice);
    const [hers, his] = [await add(alice, 'hers'), await add(bob, 'his')];
    const foreign = alice.client(api.instances.addSshKey, { id, sshKeyId: his.id });
    await expect(foreign).rejects.toMatchObject({ body: { message: 'This SSH key cannot be found' } });
    await alice.client(api.instances.addSshKey, { id, sshKeyId: hers.id });
    await bob.client(api.instances.addSshKey, { id, sshKeyId: his.id });
    expect(await authorizedKeys(db, id)).toHaveLength(2);
    // The keys of a member who leaves are removed.
    await db
      .deleteFrom('membership')
      .where('workspace_id', '=', alice.workspaceId)
      .where('user_id', '=', bob.userId)
      .execute();
    expect(await authorizedKeys(db, id)).toEqual([expect.stringContaining(`stagi-key-${hers.id}`)]);
    await alice.client(api.instances.removeSshKey, { id, sshKeyId: his.id });
    expect((await alice.client(api.instances.sshKeys, { id })).entities.map((one) => one.title)).toEqual(['hers']);
  });

  it('are not managed on a self-hosted server', async () => {
    expect(await authorizedKeys(app.ctx.db, await aSelfHostedServer(app.ctx, alice))).toBeNull();
  });

  it('cannot be changed once it is terminated', async () => {
    const id = await aRentedInstance(app.ctx, alice, 'terminated');
    await app.ctx.db.updateTable('instance').set({ closed_at: new Date() }).where('id', '=', id).execute();
    const key = await add(alice);
    await expect(alice.client(api.instances.addSshKey, { id, sshKeyId: key.id })).rejects.toMatchObject({
      status: 200,
    });
  });
});
