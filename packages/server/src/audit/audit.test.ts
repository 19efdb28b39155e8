import { api, everyCall } from '@stagi/contract/api.ts';
import { type AuditEntry, isReadOnly } from '@stagi/contract/audit.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cleanUp } from '../cleanUp.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { aContainer, aRentedInstance, aSelfHostedServer, markSteppedUp } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';

let app: TestApp;
let alice: Person;
let guest: Person;
beforeAll(async () => {
  app = await startTestApp();
  alice = await app.signUp('Alice');
  guest = await app.signUp('Gus');
  await app.ctx.db
    .insertInto('membership')
    .values({ workspace_id: alice.workspaceId, user_id: guest.userId, role: 'Guest' })
    .execute();
});
afterAll(() => app?.close());

const entries = async (person: Person, input = {}): Promise<AuditEntry[]> =>
  (await person.client(api.audit.list, input)).entities;
const newest = async (person: Person): Promise<AuditEntry | undefined> => (await entries(person))[0];

describe('the audit log', () => {
  it('records every call of a member that is not read-only', () => {
    const ofMembers = everyCall().filter(({ auth }) => auth !== 'public' && auth !== 'signed-in');
    const looks = ofMembers.filter(({ path }) => isReadOnly(path)).map(({ path }) => path);
    console.log(`audit: n = ${ofMembers.length} calls of members, ${ofMembers.length - looks.length} written down`);
    expect(looks.length).toBeGreaterThan(0);
    for (const path of looks) expect.soft(path).not.toMatch(/\b(?:add|create|delete|edit|remove|start|stop|archive)\b/);
  });

  it('records who did what to which object, from where, and its state before and after', async () => {
    const server = await aSelfHostedServer(app.ctx, alice);
    const { entity } = await alice.client(api.selfHosted.edit, { id: server, title: 'Renamed' });
    const entry = await newest(alice);
    expect(entry).toMatchObject({
      actor: { userId: alice.userId, name: 'Alice', email: alice.email },
      by: 'session',
      action: 'self-hosted-instance/edit',
      object: { type: 'self-hosted-instance', id: String(server), label: entity.slug },
      outcome: 'done',
      detail: { title: 'Renamed' },
    });
    expect(entry?.ip).toMatch(/127\.0\.0\.1|::1/);
    expect(entry?.before).toMatch(/^[0-9a-f]{64}$/);
    expect(entry?.after).toMatch(/^[0-9a-f]{64}$/);
    expect(entry?.before).not.toBe(entry?.after);
  });

  it('names an SSH key that was given access, also once the key is deleted, and nobody else’s', async () => {
    const server = await aRentedInstance(app.ctx, alice);
    const { entity: key } = await alice.client(api.sshKeys.generate, { title: 'shared desk' });
    const { entity: other } = await guest.client(api.sshKeys.generate, { title: 'of somebody else' });
    await alice.client(api.instances.addSshKey, { id: server, sshKeyId: key.id });
    await alice.client(api.sshKeys.delete, { id: key.id });
    await expect(alice.client(api.instances.addSshKey, { id: 999_999, sshKeyId: other.id })).rejects.toMatchObject({
      status: 404,
    });
    const [refused, deleted, given] = await entries(alice);
    expect(given).toMatchObject({
      action: 'instance-rented/ssh-key/add',
      object: { type: 'instance-rented', id: String(server), label: expect.any(String) },
      detail: { sshKeyId: key.id, names: { sshKeyId: 'shared desk' } },
    });
    expect(deleted?.object?.label).toBe('shared desk');
    expect(refused).toMatchObject({ outcome: 'refused', detail: { sshKeyId: other.id } });
    expect(refused?.detail, 'the log names a key that the member may not see').not.toHaveProperty('names');
  });

  it('records objects that are created, and objects that are named by Unique ID', async () => {
    const { entity } = await alice.client(api.sshKeys.generate, { title: 'audited key' });
    expect(await newest(alice)).toMatchObject({
      action: 'ssh-key/generate',
      object: { id: String(entity.id), label: 'audited key' },
      before: null,
      after: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const server = await aSelfHostedServer(app.ctx, alice);
    const { slug } = (await alice.client(api.selfHosted.view, { id: server })).entity;
    await alice.client(api.selfHosted.delete, { slug });
    expect(await newest(alice)).toMatchObject({
      object: { id: String(server), label: slug },
      before: expect.any(String),
    });
  });

  it('records members, new workspaces and archived tokens in their workspace', async () => {
    const owner = await app.signUp('Olga');
    const member = await app.signUp('Max');
    await app.ctx.db
      .insertInto('membership')
      .values({ workspace_id: owner.workspaceId, user_id: member.userId, role: 'Guest' })
      .execute();
    await owner.client(api.clients.editMember, { userId: member.userId, role: 'Developer' });
    const object = { type: 'client/member', id: String(member.userId), label: 'Max' };
    expect(await newest(owner)).toMatchObject({ action: 'client/member/edit', object, detail: { role: 'Developer' } });
    await owner.client(api.clients.removeMember, { userId: member.userId });
    expect(await newest(owner)).toMatchObject({ action: 'client/member/remove', object, after: null });

    await markSteppedUp(app.ctx, owner);
    const { entity: token } = await owner.client(api.apiTokens.create, { description: 'short-lived' });
    await owner.client(api.apiTokens.archive, { id: token.id });
    await owner.client(api.apiTokens.archive, { id: token.id });
    expect((await entries(owner)).map(({ action }) => action).slice(0, 2)).toEqual([
      'api-token/archive',
      'api-token/create',
    ]);

    const { entity } = await owner.client(api.clients.create, { name: 'Second' });
    owner.useWorkspace(entity.clientId);
    expect(await entries(owner)).toMatchObject([{ action: 'client/create', object: { label: 'Second' } }]);
  });

  it('records no secret', async () => {
    const { privateKey } = await alice.client(api.sshKeys.generate, { title: 'canary key' });
    await markSteppedUp(app.ctx, alice);
    const { token } = await alice.client(api.apiTokens.create, { description: 'canary token' });
    const { rows } = await sql<{ all: string }>`select string_agg(a::text, '') as all from audit a`.execute(app.ctx.db);
    expect(rows[0]?.all).toContain('canary token');
    expect(rows[0]?.all).not.toContain(token);
    expect(rows[0]?.all).not.toContain(privateKey.slice(40, 100));
  });

  it('tells an API token from a session', async () => {
    const server = await aSelfHostedServer(app.ctx, alice);
    await markSteppedUp(app.ctx, alice);
    const { token, entity } = await alice.client(api.apiTokens.create, { description: 'ci' });
    const { status } = await app.post(
      api.selfHosted.edit.path,
      { id: server, title: 'By a program' },
      { authorization: `Bearer ${token}` },
    );
    expect(status).toBe(200);
    expect(await newest(alice)).toMatchObject({ by: 'token', actor: { userId: alice.userId } });
    const { rows } = await sql`select credential_id from audit order by seq desc limit 1`.execute(app.ctx.db);
    expect(rows[0]).toEqual({ credential_id: String(entity.id) });
  });

  it('records what was denied or refused, but not invalid input', async () => {
    const server = await aRentedInstance(app.ctx, alice, 'stopped');
    const container = await aContainer(app.ctx, alice, server, 'stopped');
    guest.useWorkspace(alice.workspaceId);
    await expect(guest.client(api.containers.delete, { id: container })).rejects.toMatchObject({ status: 403 });
    expect(await newest(alice)).toMatchObject({
      actor: { userId: guest.userId },
      action: 'docker-container/delete',
      outcome: 'denied',
      object: { id: String(container) },
    });
    await expect(alice.client(api.containers.stop, { id: container })).rejects.toMatchObject({ status: 200 });
    const refused = await newest(alice);
    expect(refused).toMatchObject({ outcome: 'refused', detail: { message: expect.any(String) } });
    expect(refused?.before).toBe(refused?.after);
  });

  it('records nothing of objects of somebody else', async () => {
    const theirs = await aContainer(app.ctx, guest, await aRentedInstance(app.ctx, alice));
    const mallory = await app.signUp('Mallory');
    await expect(mallory.client(api.containers.start, { id: theirs })).rejects.toMatchObject({ status: 404 });
    expect(await newest(mallory)).toMatchObject({
      outcome: 'refused',
      object: { id: String(theirs), label: null },
      before: null,
    });
  });

  it('cannot be filled with refusals', async () => {
    const eve = await app.signUp('Eve');
    const tries = Array.from({ length: 80 }, () =>
      eve.client(api.containers.start, { id: 999_999_999 }).catch(() => {}),
    );
    await Promise.all(tries);
    expect((await eve.client(api.audit.list, {})).totalCount).toBe(60);
  });

  it('is filtered by user, kind of object, outcome and time, and exported as CSV without formulas', async () => {
    const bob = await app.signUp('=HYPERLINK("x")');
    const server = await aSelfHostedServer(app.ctx, bob);
    await bob.client(api.selfHosted.edit, { id: server, title: '=1+1' });
    await bob.client(api.sshKeys.generate, { title: 'k' });
    const list = await bob.client(api.audit.list, {});
    expect(list).toMatchObject({ totalCount: 2, areas: ['self-hosted-instance', 'ssh-key'] });
    expect(list.actors).toEqual([{ userId: bob.userId, name: '=HYPERLINK("x")', email: bob.email }]);
    const count = async (input: object) => (await bob.client(api.audit.list, input)).totalCount;
    expect(await count({ areas: ['ssh-key'] })).toBe(1);
    expect(await count({ userIds: [bob.userId] })).toBe(2);
    expect(await count({ userIds: [alice.userId] })).toBe(0);
    expect(await count({ entityFilterRequest: { statuses: ['denied'] } })).toBe(0);
    expect(await count({ from: new Date(Date.now() + 60_000).toISOString() })).toBe(0);
    // What is shown has no microseconds: the moment itself may be that of the entry.
    expect(await count({ to: new Date(Date.parse(list.entities[1]!.at) - 1).toISOString() })).toBe(0);
    const oldest = await bob.client(api.audit.list, { entityFilterRequest: { orderByDirection: 'asc', limit: 1 } });
    expect(oldest.entities[0]?.id).toBe(1);

    const { csv, next } = await bob.client(api.audit.export, {});
    expect(next).toBeNull();
    const lines = csv.trimEnd().split('\r\n');
    expect(lines).toHaveLength(3);
    expect(lines[0]).toMatch(/^entry,at,user_id,name,/);
    expect(lines[2]).toContain(`,"'=HYPERLINK(""x"")",`);
    expect((await bob.client(api.audit.export, { before: 2 })).csv).toBe(`${lines[2]}\r\n`);
  });
});

describe('the chain', () => {
  it('has each entry once, in order, however many act at once', async () => {
    const cleo = await app.signUp('Cleo');
    const servers = await Promise.all(Array.from({ length: 4 }, () => aSelfHostedServer(app.ctx, cleo)));
    const acts = Array.from({ length: 40 }, (_, n) =>
      cleo.client(api.selfHosted.edit, { id: servers[n % 4]!, title: `Title ${n}` }),
    );
    await Promise.all(acts);
    expect(await cleo.client(api.audit.verify, {})).toEqual({ isSuccess: true, checked: 40, broken: null, next: null });
  });

  it('is append-only', async () => {
    const { db } = app.ctx;
    for (const change of [
      sql`update audit set ip = null`,
      sql`delete from audit`,
      sql`truncate audit`,
      sql`truncate audit_head`,
      sql`delete from audit where seq = 1`,
    ])
      await expect(change.execute(db)).rejects.toThrow(/append-only/);
  });

  it.each([
    ['changed', 3, sql`update audit set ip = '192.0.2.1' where chain = `, sql` and seq = 3`],
    ['left out', 4, sql`delete from audit where chain = `, sql` and seq = 4`],
    ['cut off at its end', 5, sql`delete from audit where chain = `, sql` and seq > 5`],
    ['cut off at its beginning', 1, sql`delete from audit where chain = `, sql` and seq < 3`],
  ] as const)('that was %s behind its back shows where', async (_, broken, change, which) => {
    const dora = await app.signUp();
    const server = await aSelfHostedServer(app.ctx, dora);
    for (let n = 0; n < 6; n += 1) await dora.client(api.selfHosted.edit, { id: server, title: `Title ${n}` });
    expect(await dora.client(api.audit.verify, {})).toMatchObject({ checked: 6, broken: null });
    await behindItsBack(sql`${change}${sql.lit(dora.workspaceId)}${which}`);
    const verdict = await dora.client(api.audit.verify, {});
    expect(verdict.broken === broken || verdict.broken === broken + (broken === 5 ? 1 : 0)).toBe(true);
  });

  it('is still valid after the oldest entries are deleted after 400 days', async () => {
    const fay = await app.signUp();
    const server = await aSelfHostedServer(app.ctx, fay);
    for (let n = 0; n < 5; n += 1) await fay.client(api.selfHosted.edit, { id: server, title: `Title ${n}` });
    const mine = sql`chain = ${sql.lit(fay.workspaceId)}`;
    await behindItsBack(sql`update audit set at = at - interval '401 days' where ${mine} and seq <= 2`);
    await cleanUp(app.ctx);
    expect((await entries(fay)).map(({ id }) => id)).toEqual([5, 4, 3]);
    expect(await fay.client(api.audit.verify, {})).toMatchObject({ checked: 3, broken: null });
  });

  /** As a database superuser could. */
  async function behindItsBack(change: ReturnType<typeof sql>): Promise<void> {
    await app.ctx.db.transaction().execute(async (trx) => {
      await sql`alter table audit disable trigger user`.execute(trx);
      await change.execute(trx);
      await sql`alter table audit enable trigger user`.execute(trx);
    });
  }
});

describe('operators', () => {
  it('read what operators did, and any workspace’s log, and nobody else does', async () => {
    const olga = await app.signUp('Olga');
    const refusedAs = async (person: Person) =>
      (
        await app.post(
          api.audit.listForOperators.path,
          {},
          { authorization: `Bearer ${person.tokens().accessToken}`, 'x-client-id': String(person.workspaceId) },
        )
      ).status;
    expect(await refusedAs(olga)).toBe(403);
    await app.ctx.db.updateTable('app_user').set({ is_employee: true }).where('id', '=', olga.userId).execute();

    const server = await aSelfHostedServer(app.ctx, alice);
    await alice.client(api.selfHosted.edit, { id: server, title: 'Seen by operators' });
    const own = await alice.client(api.audit.list, {});
    const shown = await olga.client(api.audit.listForOperators, { workspaceId: alice.workspaceId });
    expect(shown.entities).toEqual(own.entities);
    expect([shown.totalCount, shown.actors, shown.areas]).toEqual([own.totalCount, own.actors, own.areas]);
    expect(shown.workspace).toEqual({ id: alice.workspaceId, name: expect.stringContaining('Alice') });

    const platform = await olga.client(api.audit.listForOperators, {});
    expect(platform.workspace).toBeNull();
    expect(platform.entities.filter(({ action }) => !action.startsWith('admin/'))).toEqual([]);
    await expect(olga.client(api.audit.listForOperators, { workspaceId: 999_999_999 })).rejects.toMatchObject({
      status: 400,
      body: { message: 'This workspace cannot be found', fieldsWithError: ['workspaceId'] },
    });
    expect(await refusedAs(alice)).toBe(403);
  });
});
