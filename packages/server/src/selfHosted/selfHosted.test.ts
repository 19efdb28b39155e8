import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { api } from '@stagi/contract/api.ts';
import type { MachineFacts } from '@stagi/contract/instances.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { daemonConnected } from '../instances/daemonSignals.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { builtDaemonEnv } from '../testing/cloudApp.ts';
import { aContainer, aRentedInstance } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';
import { revokeKeysOfDeleted } from './delete.ts';

let app: TestApp;
let alice: Person;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'stagi-own-server-'));
  app = await startTestApp(builtDaemonEnv(folder));
});
afterAll(async () => {
  await app?.close();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  alice = await app.signUp();
});

const create = (slug: string, title = 'My server') => alice.client(api.selfHosted.create, { title, slug });
const claimsOf = (token: string): unknown => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString());
const nodeOf = (id: number) =>
  app.ctx.db.selectFrom('daemon_node').selectAll().where('instance_id', '=', id).executeTakeFirstOrThrow();

const FACTS: MachineFacts = {
  hostname: 'own',
  os: 'Ubuntu 24.04',
  kernel: '6.8',
  arch: 'x64',
  cpuName: 'CPU',
  cpus: 8,
  ramBytes: 2 ** 35,
  diskBytes: 2 ** 40,
  diskFreeBytes: 2 ** 39,
  gpus: [],
  dockerVersion: '27.0',
  warnings: [],
};

/** What enrolling and connecting leave behind. */
async function joins(id: number): Promise<void> {
  await app.ctx.db
    .updateTable('daemon_node')
    .set({
      public_jwk: JSON.stringify({ kty: 'OKP', crv: 'Ed25519', x: 'A'.repeat(43) }),
      connected_at: sql<Date>`now()`,
      last_seen_at: sql<Date>`now()`,
      revoked_at: null,
      facts: JSON.stringify(FACTS),
    })
    .where('instance_id', '=', id)
    .execute();
  await daemonConnected(app.ctx, id);
}

describe('a self-hosted server', () => {
  it('is created with a one-use enrolment file and the command that enrols it', async () => {
    const made = await create('my-server');
    expect(made.entity).toMatchObject({
      status: 'awaiting setup',
      slug: 'my-server',
      title: 'My server',
      facts: null,
      freeCpus: null,
      daemonSeenAt: null,
    });
    expect(claimsOf(made.daemonToken)).toMatchObject({ sub: String(made.entity.id), kind: 'self-hosted' });
    expect(made.installCommand).toMatch(/ && sh stagi-install\.sh --token-file daemon-token\.jwt$/);
    const anywhere = { allowCpu: true, allowAnyLinux: true };
    const again = await alice.client(api.selfHosted.reissueToken, { id: made.entity.id, ...anywhere });
    expect(again.installCommand).toBe(`${made.installCommand} --allow-cpu --allow-any-linux`);
    const wide = { allowCpu: true, allowAnyFolder: true };
    const other = await alice.client(api.selfHosted.create, { title: 'Two', slug: 'two', ...wide });
    expect(other.installCommand).toBe(`${made.installCommand} --allow-cpu --allow-any-folder`);
    await alice.client(api.selfHosted.delete, { id: other.entity.id });
    expect(made.onlyThisMachine).toBe(true);
    const hours = (Date.parse(made.expiresAt) - Date.now()) / 3_600_000;
    expect(hours).toBeGreaterThan(23.9);
    expect(hours).toBeLessThanOrEqual(24);
    const { entities } = await alice.client(api.selfHosted.list, {});
    expect(entities.map(({ id }) => id)).toEqual([made.entity.id]);
    expect((await alice.client(api.instances.list, {})).totalCount).toBe(0);
  });

  it.each([
    [{ title: '' }, 'title', 'Title is required'],
    [{ slug: '' }, 'slug', 'Unique ID is required'],
    [{ slug: 'no_underscore' }, 'slug', 'Unique ID may contain only letters, digits and single hyphens between them'],
  ])('is refused at the field: %j', async (change, field, message) => {
    const made = alice.client(api.selfHosted.create, { title: 'x', slug: 'good-one', ...change });
    await expect(made).rejects.toMatchObject({ status: 400, body: { message, fieldsWithError: [field] } });
  });

  it('shares its Unique IDs with the rented servers of the workspace', async () => {
    const rented = await aRentedInstance(app.ctx, alice);
    const { slug } = (await alice.client(api.instances.view, { id: rented })).entity;
    await expect(create(slug)).rejects.toMatchObject({
      status: 400,
      body: { message: 'This Unique ID is taken', fieldsWithError: ['slug'] },
    });
  });

  it('gets another enrolment file, which revokes the first and the key of an enrolled daemon', async () => {
    const first = await create('again');
    const { id } = first.entity;
    await joins(id);
    expect((await alice.client(api.selfHosted.view, { id })).entity).toMatchObject({ status: 'online', freeCpus: 8 });
    const second = await alice.client(api.selfHosted.reissueToken, { slug: 'again' });
    expect(claimsOf(second.daemonToken)).not.toEqual(claimsOf(first.daemonToken));
    const node = await nodeOf(id);
    expect(node.revoked_at).not.toBeNull();
    expect(claimsOf(second.daemonToken)).toMatchObject({ jti: node.enrol_jti });
  });

  it('counts the CPUs that are allocated to its containers', async () => {
    const { entity } = await create('busy');
    await joins(entity.id);
    await aContainer(app.ctx, alice, entity.id);
    await aContainer(app.ctx, alice, entity.id, 'stopped');
    const seen = (await alice.client(api.selfHosted.view, { id: entity.id })).entity;
    expect(seen).toMatchObject({ containerCount: 2, freeCpus: 6 });
  });

  it('that never enrolled is deleted with its enrolment', async () => {
    const { entity } = await create('unused');
    await alice.client(api.selfHosted.delete, { id: entity.id });
    expect(await nodeOf(entity.id)).toMatchObject({ enrol_jti: null, revoked_at: expect.any(Date) });
    expect((await alice.client(api.selfHosted.list, {})).totalCount).toBe(0);
    await create('unused');
  });

  it('that has enrolled is asked to remove its containers, then its key is revoked', async () => {
    const { id } = (await create('leaving')).entity;
    await joins(id);
    const container = await aContainer(app.ctx, alice, id);
    await alice.client(api.selfHosted.delete, { id });
    expect((await alice.client(api.selfHosted.view, { id })).entity.status).toBe('deleted');
    const commands = await app.ctx.db.selectFrom('daemon_command').selectAll().where('instance_id', '=', id).execute();
    expect(commands.map(({ body }) => body)).toEqual([{ kind: 'leave', removeContainers: true }]);
    const row = await app.ctx.db
      .selectFrom('container')
      .select('status')
      .where('id', '=', container)
      .executeTakeFirstOrThrow();
    expect(row.status).toBe('deleted');

    await revokeKeysOfDeleted(app.ctx);
    expect((await nodeOf(id)).revoked_at).toBeNull();
    await sql`update instance set closed_at = now() - interval '2 minutes' where id = ${id}`.execute(app.ctx.db);
    await sql`update daemon_node set connected_at = now() - interval '2 minutes' where instance_id = ${id}`.execute(
      app.ctx.db,
    );
    await revokeKeysOfDeleted(app.ctx);
    expect((await nodeOf(id)).revoked_at).not.toBeNull();
    await expect(alice.client(api.selfHosted.delete, { id })).rejects.toMatchObject({ status: 200 });
  });

  it('is renamed', async () => {
    const { id } = (await create('renamed')).entity;
    expect((await alice.client(api.selfHosted.edit, { id, title: 'New name' })).entity.title).toBe('New name');
  });
});
