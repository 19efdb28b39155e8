import { api } from '@stagi/contract/api.ts';
import { ROLES, type Role } from '@stagi/contract/permissions.ts';
import { SEATS } from '@stagi/contract/plans.ts';
import { Plan } from '@stagi/contract/user.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dropUnverified } from '../auth/dropUnverified.ts';
import { cleanUp } from '../cleanUp.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { anApiToken, anInvite, haveSteppedUp } from '../testing/factories.ts';
import { mailsTo, type Person } from '../testing/person.ts';

const OVER = 'This invitation can no longer be used. Ask whoever sent it for another one.';
const DAY_MS = 86_400_000;

describe('invites', () => {
  let app: TestApp;
  /** Nobody of a test before is touched: everybody else is made anew. */
  const passersBy: Person[] = [];

  beforeAll(async () => {
    app = await startTestApp();
  });
  afterAll(() => app?.close());

  it('lead by a link that is shown once from its maker to a member with its role', async () => {
    const owner = await anOwner();
    const guest = await app.signUp('Grace Hopper');
    const { entity, link } = await owner.client(api.invites.create, { role: 'Developer' });
    expect(entity).toMatchObject({ roleName: 'Developer', status: 'pending', uses: 1, used: 0, hold: null });
    expect(daysUntil(entity.expiresAt)).toBeCloseTo(7, 1);
    const code = codeOf(link);
    expect(link).toBe(`${app.ctx.config.appOrigin}/join-client/${code}`);
    expect(Buffer.from(code, 'base64url')).toHaveLength(32);
    expect(await everythingStored(code)).toEqual([]);

    const { invitation } = await app.anonymous(api.invites.view, { code });
    expect(invitation).toMatchObject({
      clientId: owner.workspaceId,
      clientName: 'Ada’s workspace',
      roleName: 'Developer',
      invitedBy: 'Ada',
    });
    const before = (await guest.client(api.user.profile, {})).userProfile.clientRelations;
    const answer = await guest.client(api.invites.join, { code });
    expect(answer).toMatchObject({ joined: true, entity: { clientId: owner.workspaceId, roleName: 'Developer' } });
    const now = (await guest.client(api.user.profile, {})).userProfile.clientRelations;
    expect(now).toEqual([...before, answer.entity]);
    const { entities, seats } = await owner.client(api.invites.list, {});
    expect(entities).toMatchObject([
      { id: entity.id, status: 'finished', endedBy: 'used up', used: 1, hold: 'ended', inviter: { isMe: true } },
    ]);
    expect(seats).toEqual({ plan: 'Free', used: 2, limit: 2 });

    const log = (await owner.client(api.audit.list, {})).entities;
    expect(log.slice(0, 2)).toMatchObject([
      { action: 'client/join', actor: { userId: guest.userId }, detail: { role: 'Developer', invitedBy: 'Ada' } },
      { action: 'client/invite/create', actor: { userId: owner.userId }, object: { type: 'client/invite' } },
    ]);
    expect(JSON.stringify(log)).not.toContain(code);
  });

  it('answer alike for a link that is used up, expired, revoked, of somebody who left, or none at all', async () => {
    const owner = await anOwner('Team');
    const inviter = await aMember(owner, 'Admin');
    const stranger = await app.signUp();
    const codes: Record<string, string> = { 'never was': 'A'.repeat(43), 'no code': 'x', empty: '' };
    for (const what of ['used up', 'expired', 'revoked', 'inviter']) {
      const { id, code } = await anInvite(app.ctx, what === 'inviter' ? inviter : owner);
      codes[what] = code;
      if (what === 'used up') await (await app.signUp()).client(api.invites.join, { code });
      if (what === 'expired') await expire(id);
      if (what === 'revoked') await owner.client(api.invites.revoke, { id });
    }
    await owner.client(api.clients.removeMember, { userId: inviter.userId });
    const { tokens } = stranger;
    let n = 0;
    for (const [what, code] of Object.entries(codes)) {
      const viewed = await app.post('client/invite/view', { code });
      const joined = await app.post('client/join', { code }, { authorization: `Bearer ${tokens().accessToken}` });
      for (const reply of [viewed, joined]) {
        expect.soft(reply.status, what).toBe(200);
        expect.soft(reply.body, what).toEqual({ isSuccess: false, message: OVER, requestId: expect.any(String) });
        n += 1;
      }
    }
    console.log(`links that lead nowhere: n = ${n} answers alike`);
    expect(n).toBeGreaterThan(0);
    const { entities } = await owner.client(api.invites.list, {});
    expect(entities.map(({ endedBy }) => endedBy).toSorted()).toEqual(['expired', 'inviter', 'revoked', 'used up']);
    await expect(owner.client(api.invites.revoke, { id: entities[0]!.id })).rejects.toThrow(
      'This invitation has ended already',
    );
  });

  it('let one in of twenty who come at once by a link for one, and five by one for five', async () => {
    const many = await people(20);
    for (const uses of [1, 5]) {
      const owner = await anOwner('Enterprise');
      const { code } = await anInvite(app.ctx, owner, { uses });
      const came = await Promise.allSettled(many.map(({ client }) => client(api.invites.join, { code })));
      const refusals = came.filter((one) => one.status === 'rejected').map(({ reason }) => reason.message);
      expect(refusals).toEqual(Array.from({ length: 20 - uses }, () => OVER));
      const { totalCount } = await owner.client(api.clients.members, {});
      expect(totalCount).toBe(1 + uses);
      const { entities } = await owner.client(api.invites.list, {});
      expect(entities).toMatchObject([{ used: uses, status: 'finished', endedBy: 'used up' }]);
      console.log(`joins at once by a link for ${uses}: n = ${came.length}`);
    }
  });

  it('spend nothing and change nothing for who is a member already, even by a link that has ended', async () => {
    const owner = await anOwner('Team');
    const { code } = await anInvite(app.ctx, owner, { role: 'Admin' });
    const member = await aMember(owner, 'Guest');
    for (const person of [member, owner])
      expect(await person.client(api.invites.join, { code })).toMatchObject({ joined: false });
    expect((await owner.client(api.invites.list, {})).entities).toMatchObject([{ used: 0, status: 'pending' }]);
    const { entities } = await owner.client(api.clients.members, {});
    expect(entities.find(({ userId }) => userId === member.userId)?.roleName).toBe('Guest');

    const newcomer = await app.signUp();
    expect(await newcomer.client(api.invites.join, { code })).toMatchObject({ joined: true });
    // The answer was lost, and the browser asks again.
    expect(await newcomer.client(api.invites.join, { code })).toMatchObject({
      joined: false,
      entity: { clientId: owner.workspaceId, roleName: 'Admin' },
    });
  });

  it('cannot be made for a role that holds what their maker lacks, whoever asks', async () => {
    const owner = await anOwner('Enterprise');
    const member = await aMember(owner, 'Guest');
    await haveSteppedUp(app.ctx, member);
    let n = 0;
    for (const mine of ROLES) {
      await setRole(owner, member, mine);
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

  it('ask who invites an owner to show that it is them', async () => {
    const owner = await anOwner();
    const make = () => owner.client(api.invites.create, { role: 'Owner' });
    await expect(make()).rejects.toMatchObject({ status: 403, body: { code: 'step-up' } });
    await haveSteppedUp(app.ctx, owner);
    expect((await make()).entity).toMatchObject({ roleName: 'Owner' });
  });

  it('end as soon as their maker leaves, is disabled, or could no longer make them', async () => {
    const owner = await anOwner('Enterprise');
    await haveSteppedUp(app.ctx, owner);
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
        app.ctx.db.transaction().execute((trx) => dropUnverified(trx, userId)),
    };
    let n = 0;
    for (const [what, end] of Object.entries(ends)) {
      const inviter = await aMember(owner, 'Owner');
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

    const inviter = await aMember(owner, 'Owner');
    const kept = await anInvite(app.ctx, inviter, { role: 'Guest' });
    await owner.client(api.clients.editMember, { userId: inviter.userId, role: 'Admin' });
    expect((await app.anonymous(api.invites.view, { code: kept.code })).invitation.roleName).toBe('Guest');
    // By whatever way a role is lost.
    await setRole(owner, inviter, 'Guest');
    await expect(app.anonymous(api.invites.view, { code: kept.code })).rejects.toThrow(OVER);
  });

  it('are revoked by members who could have made them, at once', async () => {
    const owner = await anOwner('Team');
    const admin = await aMember(owner, 'Admin');
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

  it('bring no more members than the plan has seats, also of those who come at once', async () => {
    const many = await people(20);
    for (const plan of Plan.options) {
      const owner = await anOwner(plan);
      const limit = SEATS[plan];
      const { code } = await anInvite(app.ctx, owner, { uses: 20 });
      const came = await Promise.allSettled(many.slice(0, 10).map(({ client }) => client(api.invites.join, { code })));
      const members = (await owner.client(api.clients.members, {})).totalCount;
      expect.soft(members, plan).toBe(limit ?? 11);
      for (const one of came)
        if (one.status === 'rejected')
          expect
            .soft(one.reason.message)
            .toBe(
              `All seats of this workspace are taken: its plan allows ${limit}. Ask whoever invited you to make room.`,
            );
      expect.soft((await owner.client(api.invites.list, {})).seats).toEqual({ plan, used: members, limit });
      const another = owner.client(api.invites.create, { role: 'Guest' });
      if (limit === null) await another;
      else
        await expect
          .soft(another)
          .rejects.toThrow(
            `All seats of this workspace are taken: its plan allows ${limit}. Remove a member or choose a larger plan first.`,
          );
    }
    const owner = await anOwner('Free');
    const { code } = await anInvite(app.ctx, owner, { uses: 2 });
    const [first, second] = many as [Person, Person];
    await first.client(api.invites.join, { code });
    await owner.client(api.clients.removeMember, { userId: first.userId });
    expect(await second.client(api.invites.join, { code })).toMatchObject({ joined: true });
  });

  it('take their number of people and their end within bounds', async () => {
    const owner = await anOwner('Team');
    const make = (input: object) => owner.client(api.invites.create, { role: 'Guest', ...input });
    const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString();
    expect((await make({ uses: 100, expiresAt: inDays(30) })).entity).toMatchObject({ uses: 100 });
    for (const uses of [0, 101, 1.5, '3'])
      await expect.soft(make({ uses }), String(uses)).rejects.toMatchObject({ status: 400 });
    await expect(make({ expiresAt: inDays(31) })).rejects.toThrow('A join link is good for at most 30 days');
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

  it('are listed by state, role and who made them, a page at a time', async () => {
    const owner = await anOwner('Team');
    const admin = await aMember(owner, 'Admin', 'Zoe Admin');
    const open = await anInvite(app.ctx, owner, { role: 'Developer' });
    const late = await anInvite(app.ctx, admin);
    await expire(late.id);
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
    // What is shown as over is also written down as such.
    await cleanUp(app.ctx);
    expect(await where({ statuses: ['finished'] })).toEqual([late.id]);
    const stored = await app.ctx.db.selectFrom('invite').selectAll().where('id', '=', late.id).executeTakeFirst();
    expect(stored).toMatchObject({ status: 'finished', ended_by: 'expired' });
  });

  it('are nothing for API tokens, and their members nothing for a workspace that is closed', async () => {
    const owner = await anOwner('Team');
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

  it('mail whoever is given another role or removed by somebody else, in their language', async () => {
    const owner = await anOwner('Team', 'Ada Lovelace');
    const member = await aMember(owner, 'Guest', 'Grace');
    await member.client(api.user.edit, { language: 'tr' });
    const edit = (role: Role) => owner.client(api.clients.editMember, { userId: member.userId, role });
    await edit('Developer');
    await edit('Developer');
    await owner.client(api.clients.removeMember, { userId: member.userId });
    const leaver = await aMember(owner, 'Guest');
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

  async function anOwner(plan: Plan = 'Free', name = 'Ada'): Promise<Person> {
    const owner = await app.signUp(name);
    await app.ctx.db.updateTable('workspace').set({ plan }).where('id', '=', owner.workspaceId).execute();
    return owner;
  }

  async function aMember(owner: Person, role: Role, name?: string): Promise<Person> {
    const member = await app.signUp(name);
    await setRole(owner, member, role);
    member.useWorkspace(owner.workspaceId);
    return member;
  }

  /** People of workspaces of their own, the same whenever it is asked. */
  async function people(count: number): Promise<Person[]> {
    while (passersBy.length < count) passersBy.push(await app.signUp());
    return passersBy.slice(0, count);
  }

  async function setRole(owner: Person, { userId }: Person, role: Role): Promise<void> {
    await app.ctx.db
      .insertInto('membership')
      .values({ workspace_id: owner.workspaceId, user_id: userId, role })
      .onConflict((conflict) => conflict.columns(['workspace_id', 'user_id']).doUpdateSet({ role }))
      .execute();
  }

  async function setDisabled(userId: number, disabled_at: ReturnType<typeof sql<Date | null>>): Promise<void> {
    await app.ctx.db.updateTable('app_user').set({ disabled_at }).where('id', '=', userId).execute();
  }

  async function expire(id: number): Promise<void> {
    await app.ctx.db
      .updateTable('invite')
      .set({ expires_at: sql<Date>`now() - interval '1 second'` })
      .where('id', '=', id)
      .execute();
  }

  const asOwner = (owner: Person) => ({
    authorization: `Bearer ${owner.tokens().accessToken}`,
    'x-client-id': String(owner.workspaceId),
    'idempotency-key': crypto.randomUUID(),
  });

  /** The tables that hold a text in the clear. */
  async function everythingStored(secret: string): Promise<string[]> {
    const { rows: tables } = await sql<{ name: string }>`
      select tablename as name from pg_tables where schemaname = 'public'`.execute(app.ctx.db);
    const found: string[] = [];
    for (const { name } of tables) {
      const { rows } = await sql<{ n: number }>`
        select count(*)::int as n from ${sql.table(name)} t where t::text like ${`%${secret}%`}`.execute(app.ctx.db);
      if (rows[0]?.n !== 0) found.push(name);
    }
    expect(tables.length).toBeGreaterThan(0);
    return found;
  }
});

const codeOf = (link: string): string => link.slice(link.lastIndexOf('/') + 1);

const daysUntil = (at: string): number => (new Date(at).getTime() - Date.now()) / DAY_MS;
