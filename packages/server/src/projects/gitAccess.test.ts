import { api } from '@stagi/contract/api.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { aMember } from '../app/testing/seededWorkspace.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { anApiToken, anImport, aProject } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';
import { findProjectForGit, type GitCaller } from './gitAccess.ts';

describe('the access of git commands', () => {
  let app: TestApp;
  let alice: Person;
  let id: number;
  let slug: string;
  beforeAll(async () => {
    app = await startTestApp({}, { role: 'api' });
  });
  afterAll(() => app?.close());
  beforeEach(async () => {
    alice = await app.signUp();
    id = await aProject(app.ctx, alice);
    ({ slug } = (await alice.client(api.projects.view, { id })).entity);
  });

  const ask = (who: GitCaller, wants: 'read' | 'push' = 'read', over: object = {}) =>
    findProjectForGit(app.ctx, { clientId: alice.workspaceId, slug, who, wants, ...over });
  const people = (...userIds: number[]): GitCaller => ({ kind: 'people', userIds });
  const token = async (person: Person, given = {}): Promise<GitCaller> => ({
    kind: 'token',
    token: (await anApiToken(app.ctx, person, given)).token,
    ip: '127.0.0.1',
  });
  async function colleague(role: 'Developer' | 'Billing' | 'Guest'): Promise<Person> {
    const person = await app.signUp();
    await aMember(app, person, alice.workspaceId, role);
    person.useWorkspace(alice.workspaceId);
    return person;
  }

  it('is what the role allows, by token and by key', async () => {
    for (const who of [await token(alice), people(alice.userId)])
      for (const wants of ['read', 'push'] as const)
        expect.soft(await ask(who, wants), `${who.kind} ${wants}`).toMatchObject({
          outcome: 'allowed',
          project: {
            id,
            slug,
            workspaceId: alice.workspaceId,
            userId: alice.userId,
            defaultBranch: 'main',
            allowForcedPush: false,
            roomBytes: wants === 'push' ? 50_000_000_000 : null,
          },
        });
    const guest = await colleague('Guest');
    for (const who of [await token(guest), people(guest.userId)])
      expect.soft(await ask(who)).toEqual({ outcome: 'not-found' });
  });

  it('is no more than the token was given', async () => {
    expect(await ask(await token(alice, { permissions: ['PROJECT'] }))).toMatchObject({ outcome: 'allowed' });
    expect(await ask(await token(alice, { permissions: ['PROJECT'] }), 'push')).toEqual({
      outcome: 'refused',
      message: 'You may read this project, but not push to it',
    });
    expect(await ask(await token(alice, { permissions: ['INSTANCE_RENTED'] }))).toEqual({ outcome: 'not-found' });
  });

  it('answers alike for a foreign, an absent and an unpermitted project', async () => {
    const bob = await app.signUp();
    const guest = await colleague('Guest');
    const answers = [
      await ask(await token(bob)),
      await ask(people(bob.userId)),
      await ask(people()),
      await ask(people(999_999_999)),
      await ask(await token(alice), 'read', { slug: 'no-such-project' }),
      await ask(await token(alice), 'push', { slug: 'no-such-project' }),
      await ask(await token(alice), 'read', { clientId: bob.workspaceId }),
      await ask(await token(alice), 'read', { clientId: 999_999_999 }),
      await ask(await token(guest), 'push'),
    ];
    expect(answers).toEqual(answers.map(() => ({ outcome: 'not-found' })));
  });

  it('needs a token that is valid now, and takes no other secret', async () => {
    const { id: tokenId, token: secret } = await anApiToken(app.ctx, alice);
    const who: GitCaller = { kind: 'token', token: secret, ip: '127.0.0.1' };
    expect(await ask(who)).toMatchObject({ outcome: 'allowed' });
    for (const other of [alice.tokens().accessToken, alice.tokens().refreshToken, `${secret}x`, '', 'stg_1_x'])
      expect.soft(await ask({ ...who, token: other })).toEqual({ outcome: 'unauthenticated' });
    await alice.client(api.apiTokens.archive, { id: tokenId });
    expect(await ask(who)).toEqual({ outcome: 'unauthenticated' });
  });

  it('counts, of several people with one key, only those who are members and may', async () => {
    const [bob, guest, developer] = [await app.signUp(), await colleague('Guest'), await colleague('Developer')];
    expect(await ask(people(bob.userId, guest.userId, developer.userId), 'push')).toMatchObject({
      outcome: 'allowed',
      project: { userId: developer.userId },
    });
    expect(await ask(people(bob.userId, guest.userId), 'push')).toEqual({ outcome: 'not-found' });
  });

  it('ends at once with membership, account and workspace', async () => {
    const developer = await colleague('Developer');
    const who = [people(developer.userId), await token(developer)];
    const outcomes = async () => Promise.all(who.map(async (one) => (await ask(one)).outcome));
    expect(await outcomes()).toEqual(['allowed', 'allowed']);
    const { db } = app.ctx;
    await sql`update app_user set disabled_at = now() where id = ${developer.userId}`.execute(db);
    expect(await outcomes()).toEqual(['not-found', 'unauthenticated']);
    await sql`update app_user set disabled_at = null where id = ${developer.userId}`.execute(db);
    await sql`update workspace set disabled_at = now() where id = ${alice.workspaceId}`.execute(db);
    expect(await outcomes()).toEqual(['not-found', 'not-found']);
    await sql`update workspace set disabled_at = null where id = ${alice.workspaceId}`.execute(db);
    expect(await outcomes()).toEqual(['allowed', 'allowed']);
    await alice.client(api.clients.removeMember, { userId: developer.userId });
    expect((await outcomes())[0]).toBe('not-found');
    expect((await outcomes())[1]).not.toBe('allowed');
  });

  it('refuses a push, with the reason, while the project is archived, imports, or the plan is full', async () => {
    const who = await token(alice);
    await alice.client(api.projects.archive, { id });
    expect(await ask(who)).toMatchObject({ outcome: 'allowed' });
    expect(await ask(who, 'push')).toEqual({
      outcome: 'refused',
      message: 'This project is archived: it can only be read',
    });
    await alice.client(api.projects.unarchive, { id });
    const imports = await anImport(app.ctx, id);
    expect(await ask(who, 'push')).toEqual({
      outcome: 'refused',
      message: 'A repository is being imported into this project',
    });
    await sql`update project_import set status = 'failed' where id = ${imports}`.execute(app.ctx.db);
    await sql`update project set size_bytes = 49999999000 where id = ${id}`.execute(app.ctx.db);
    expect(await ask(who, 'push')).toMatchObject({ outcome: 'allowed', project: { roomBytes: 1_000 } });
    await sql`update project set size_bytes = 50000000001 where id = ${id}`.execute(app.ctx.db);
    expect(await ask(who, 'push')).toEqual({
      outcome: 'refused',
      message: 'Your plan has no room left for this: delete something, or choose a larger plan',
    });
    expect(await ask(who)).toMatchObject({ outcome: 'allowed' });
  });

  it('ends with the project', async () => {
    await alice.client(api.projects.delete, { id, slugTyped: slug });
    for (const wants of ['read', 'push'] as const)
      expect(await ask(await token(alice), wants)).toEqual({ outcome: 'not-found' });
  });
});
