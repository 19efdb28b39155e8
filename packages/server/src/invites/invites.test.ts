import { api } from '@stagi/contract/api.ts';
import { ROLES, type Role } from '@stagi/contract/permissions.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cleanUp } from '../cleanUp.ts';
import { resetUnverifiedAccount } from '../identities/resetUnverifiedAccount.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { anApiToken, anInvite, markSteppedUp } from '../testing/factories.ts';
import { mailsTo, type Person } from '../testing/person.ts';
import { aMember, anOwner, expire, OVER, setRole } from './testing/hosts.ts';

const DAY_MS = 86_400_000;

describe('invites', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp();
  });
  afterAll(() => app?.close());

  it('cannot be created for a role with permissions that their creator lacks', async () => {
    const owner = await anOwner(app, 'Enterprise');
    const member = await aMember(app, owner, 'Guest');
    await markSteppedUp(app.ctx, member);
    let n = 0;
    for (const mine of ROLES) {
      await setRole(app, owner, member, mine);
      for (const role of ROLES) {
        const may = mine === 'Owner' || (mine === 'Admin' && role !== 'Owner');
        const made = await member.client(api.invites.create, { role }).catch((error) => error.status);
        expect.soft(typeof made === 'object', `${mine} invites ${role}`).toBe(may);
        if (!may) expect.soft(made).toBe(403);
        n += 1;
      }
    }
    for (const role of ['EMPLOYEE', 'owner', 'Superadmin', ['Owner'], null, undefined]) {
      const reply = await app.post('client/invite/create', { role }, asOwner(owner));
      expect.soft(reply.status, String(role)).toBe(400);
      n += 1;
    }
    console.log(`invitations by role: n = ${n}`);
    expect(n).toBeGreaterThan(0);
  });

  it('require a step-up to invite an owner', async () => {
    const owner = await anOwner(app);
    const make = () => owner.client(api.invites.create, { role: 'Owner' });
    await expect(make()).rejects.toMatchObject({ status: 403, body: { code: 'step-up' } });
    await markSteppedUp(app.ctx, owner);
    expect((await make()).entity).toMatchObject({ roleName: 'Owner' });
  });

  it('are revoked when their creator leaves, is disabled, or loses the permission to create them', async () => {
    const owner = await anOwner(app, 'Enterprise');
    await markSteppedUp(app.ctx, owner);
    const ends: Record<string, (inviter: Person) => Promise<unknown>> = {
      'is made a guest': ({ userId }) => owner.client(api.clients.editMember, { userId, role: 'Guest' }),
      'is made an admin, of a link for owners': ({ userId }) =>
        owner.client(api.clients.editMember, { userId, role: 'Admin' }),
      'is removed': ({ userId }) => owner.client(api.clients.removeMember, { userId }),
      leaves: ({ client }) => client(api.clients.leave, {}),
      'is disabled': async ({ userId }) => {
        await setDisabled(userId, sql<Date>`now()`);
        await setDisabled(userId, sql<null>`null`);
      },
      'turns out to be somebody else': ({ userId }) =>
        app.ctx.db.transaction().execute((trx) => resetUnverifiedAccount(trx, userId)),
    };
    let n = 0;
    for (const [what, end] of Object.entries(ends)) {
      const inviter = await aMember(app, owner, 'Owner');
      const { id, code } = await anInvite(app.ctx, inviter, { role: 'Owner' });
      await app.anonymous(api.invites.view, { code });
      await end(inviter);
      await expect.soft(app.anonymous(api.invites.view, { code }), what).rejects.toThrow(OVER);
      const listed = (await owner.client(api.invites.list, {})).entities.find((invite) => invite.id === id);
      expect.soft(listed, what).toMatchObject({ status: 'canceled', endedBy: 'inviter' });
      n += 1;
    }
    console.log(`ends of those who invited: n = ${n}`);
    expect(n).toBeGreaterThan(0);

    const inviter = await aMember(app, owner, 'Owner');
    const kept = await anInvite(app.ctx, inviter, { role: 'Guest' });
    await owner.client(api.clients.editMember, { userId: inviter.userId, role: 'Admin' });
    expect((await app.anonymous(api.invites.view, { code: kept.code })).invitation.roleName).toBe('Guest');
    // However the role is lost.
    const ofOwner = await aMember(app, owner, 'Owner');
    const beyond = await anInvite(app.ctx, ofOwner, { role: 'Owner' });
    await setRole(app, owner, ofOwner, 'Admin');
    await expect(app.anonymous(api.invites.view, { code: beyond.code })).rejects.toThrow(OVER);
    await setRole(app, owner, inviter, 'Guest');
    await expect(app.anonymous(api.invites.view, { code: kept.code })).rejects.toThrow(OVER);
  });

  it('are revoked at once by members who could have created them', async () => {
    const owner = await anOwner(app, 'Team');
    const admin = await aMember(app, owner, 'Admin');
    const forOwner = await anInvite(app.ctx, owner, { role: 'Owner' });
    const forGuest = await anInvite(app.ctx, owner);
    await expect(admin.client(api.invites.revoke, { id: forOwner.id })).rejects.toMatchObject({ status: 403 });
    const listed = (await admin.client(api.invites.list, {})).entities;
    expect(listed.map(({ id, hold }) => [id, hold])).toEqual([
      [forGuest.id, null],
      [forOwner.id, 'more-power'],
    ]);
    await expect(admin.client(api.invites.revoke, { id: 2 ** 40 })).rejects.toMatchObject({ status: 404 });
    await admin.client(api.invites.revoke, { id: forGuest.id });
    await expect(app.anonymous(api.invites.view, { code: forGuest.code })).rejects.toThrow(OVER);
    expect((await owner.client(api.audit.list, {})).entities[0]).toMatchObject({
      action: 'client/invite/revoke',
      object: { type: 'client/invite', id: String(forGuest.id), label: 'Guest' },
    });
  });

  it('limit their number of uses and their lifetime', async () => {
    const owner = await anOwner(app, 'Team');
    const make = (input: object) => owner.client(api.invites.create, { role: 'Guest', ...input });
    const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString();
    expect((await make({ uses: 100, expiresAt: inDays(30) })).entity).toMatchObject({ uses: 100 });
    for (const uses of [0, 101, 1.5, '3'])
      await expect.soft(make({ uses }), String(uses)).rejects.toMatchObject({ status: 400 });
    await expect(make({ expiresAt: inDays(31) })).rejects.toThrow('A join link is valid for at most 30 days');
    await expect(make({ expiresAt: inDays(-1) })).rejects.toThrow('The expiration must be in the future');
    await expect(make({ expiresAt: 'tomorrow' })).rejects.toThrow('Enter a valid date');
    expect((await owner.client(api.invites.list, {})).totalCount).toBe(1);
    await app.ctx.db
      .insertInto('invite')
      .columns(['workspace_id', 'created_by', 'role', 'hash', 'uses', 'expires_at'])
      .expression(
        sql`select ${owner.workspaceId}, ${owner.userId}, 'Guest', sha256(('many' || n)::bytea), 1, now() + interval '1 day' from generate_series(1, 99) n`,
      )
      .execute();
    await expect(make({})).rejects.toThrow('This workspace has 100 open join links.');
  });

  it('are listed by status, role and creator, a page at a time', async () => {
    const owner = await anOwner(app, 'Team');
    const admin = await aMember(app, owner, 'Admin', 'Zoe Admin');
    const open = await anInvite(app.ctx, owner, { role: 'Developer' });
    const late = await anInvite(app.ctx, admin);
    await expire(app, late.id);
    const revoked = await anInvite(app.ctx, admin, { role: 'Billing' });
    await owner.client(api.invites.revoke, { id: revoked.id });
    const ids = async (input: object) => (await owner.client(api.invites.list, input)).entities.map(({ id }) => id);
    const where = (entityFilterRequest: object) => ids({ entityFilterRequest });
    expect(await ids({})).toEqual([revoked.id, late.id, open.id]);
    expect(await where({ statuses: ['pending'] })).toEqual([open.id]);
    expect(await where({ statuses: ['finished'] })).toEqual([late.id]);
    expect(await where({ statuses: ['canceled', 'pending'] })).toEqual([revoked.id, open.id]);
    expect(await where({ queryString: 'zoe' })).toEqual([revoked.id, late.id]);
    expect(await ids({ roles: ['Developer', 'Guest'] })).toEqual([late.id, open.id]);
    expect(await where({ limit: 2, page: 2 })).toEqual([open.id]);
    for (const orderByField of ['createdAt', 'expiresAt', 'roleName', 'used', 'inviter'])
      expect(await where({ orderByField })).toHaveLength(3);
    await expect(where({ orderByField: 'hash' })).rejects.toMatchObject({ status: 400 });
    // The cleanup stores the status that is shown.
    await cleanUp(app.ctx);
    expect(await where({ statuses: ['finished'] })).toEqual([late.id]);
    const stored = await app.ctx.db.selectFrom('invite').selectAll().where('id', '=', late.id).executeTakeFirst();
    expect(stored).toMatchObject({ status: 'finished', ended_by: 'expired' });
  });

  it('are refused to API tokens and in a disabled workspace', async () => {
    const owner = await anOwner(app, 'Team');
    const { token } = await anApiToken(app.ctx, owner);
    for (const [path, body] of Object.entries({
      'client/invite/create': { role: 'Guest' },
      'client/invite/list': {},
      'client/invite/revoke': { id: 1 },
      'client/join': { code: 'x' },
    })) {
      const headers = { authorization: `Bearer ${token}`, 'idempotency-key': crypto.randomUUID() };
      expect.soft((await app.post(path, body, headers)).status, path).toBe(403);
    }
    const { code } = await anInvite(app.ctx, owner);
    await app.ctx.db
      .updateTable('workspace')
      .set({ disabled_at: new Date() })
      .where('id', '=', owner.workspaceId)
      .execute();
    await expect(app.anonymous(api.invites.view, { code })).rejects.toThrow(OVER);
    for (const person of [owner, await app.signUp()])
      await expect(person.client(api.invites.join, { code })).rejects.toThrow(OVER);
  });

  it('mail a member whose role is changed or who is removed, in their language', async () => {
    const owner = await anOwner(app, 'Team', 'Ada Lovelace');
    const member = await aMember(app, owner, 'Guest', 'Grace');
    await member.client(api.user.edit, { language: 'tr' });
    const edit = (role: Role) => owner.client(api.clients.editMember, { userId: member.userId, role });
    await edit('Developer');
    await edit('Developer');
    await owner.client(api.clients.removeMember, { userId: member.userId });
    const leaver = await aMember(app, owner, 'Guest');
    await leaver.client(api.clients.leave, {});
    const mails = (await mailsTo(app.url, member.email)).filter(({ text }) =>
      text.includes('Ada Lovelace’s workspace'),
    );
    expect(mails.map(({ subject }) => subject)).toEqual([
      'Artık Ada Lovelace’s workspace üyesi değilsiniz',
      'Ada Lovelace’s workspace alanındaki rolünüz artık Geliştirici',
    ]);
    for (const { text } of mails) expect(text).toContain('Ada Lovelace');
    expect((await mailsTo(app.url, leaver.email)).filter(({ text }) => text.includes('workspace'))).toEqual([]);
  });
  async function setDisabled(userId: number, disabled_at: ReturnType<typeof sql<Date | null>>): Promise<void> {
    await app.ctx.db.updateTable('app_user').set({ disabled_at }).where('id', '=', userId).execute();
  }

  const asOwner = (owner: Person) => ({
    authorization: `Bearer ${owner.tokens().accessToken}`,
    'x-client-id': String(owner.workspaceId),
    'idempotency-key': crypto.randomUUID(),
  });
});
