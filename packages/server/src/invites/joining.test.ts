import { api } from '@stagi/contract/api.ts';
import { PLAN_LIMITS } from '@stagi/contract/planLimits.ts';
import { Plan } from '@stagi/contract/user.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { anInvite } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';
import { aMember, anOwner, expire, OVER } from './testing/hosts.ts';

const DAY_MS = 86_400_000;

describe('links to join a workspace', () => {
  let app: TestApp;
  /** New people for each test. */
  const passersBy: Person[] = [];

  beforeAll(async () => {
    app = await startTestApp();
  });
  afterAll(() => app?.close());

  it('are shown once and make whoever uses them a member with their role', async () => {
    const owner = await anOwner(app);
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

  it('are refused with the same answer when used up, expired, revoked, of a creator who left, or unknown', async () => {
    const owner = await anOwner(app, 'Team');
    const inviter = await aMember(app, owner, 'Admin');
    const stranger = await app.signUp();
    const codes: Record<string, string> = { 'never was': 'A'.repeat(43), 'no code': 'x', empty: '' };
    for (const what of ['used up', 'expired', 'revoked', 'inviter']) {
      const { id, code } = await anInvite(app.ctx, what === 'inviter' ? inviter : owner);
      codes[what] = code;
      if (what === 'used up') await (await app.signUp()).client(api.invites.join, { code });
      if (what === 'expired') await expire(app, id);
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
      'This invitation has already ended',
    );
  });

  it('admit one of twenty who use a link for one at once, and five with a link for five', async () => {
    const many = await people(20);
    for (const uses of [1, 5]) {
      const owner = await anOwner(app, 'Enterprise');
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

  it('change nothing for a member, and are not used up by them, even when expired', async () => {
    const owner = await anOwner(app, 'Team');
    const { code } = await anInvite(app.ctx, owner, { role: 'Admin' });
    const member = await aMember(app, owner, 'Guest');
    for (const person of [member, owner])
      expect(await person.client(api.invites.join, { code })).toMatchObject({ joined: false });
    expect((await owner.client(api.invites.list, {})).entities).toMatchObject([{ used: 0, status: 'pending' }]);
    const { entities } = await owner.client(api.clients.members, {});
    expect(entities.find(({ userId }) => userId === member.userId)?.roleName).toBe('Guest');

    const newcomer = await app.signUp();
    expect(await newcomer.client(api.invites.join, { code })).toMatchObject({ joined: true });
    // A retry after the answer was lost.
    expect(await newcomer.client(api.invites.join, { code })).toMatchObject({
      joined: false,
      entity: { clientId: owner.workspaceId, roleName: 'Admin' },
    });
  });

  it('never exceed the seats of the plan, also when used in parallel', async () => {
    const many = await people(20);
    for (const plan of Plan.options) {
      const owner = await anOwner(app, plan);
      const limit = PLAN_LIMITS[plan].members;
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
    const owner = await anOwner(app, 'Free');
    const { code } = await anInvite(app.ctx, owner, { uses: 2 });
    const [first, second] = many as [Person, Person];
    await first.client(api.invites.join, { code });
    await owner.client(api.clients.removeMember, { userId: first.userId });
    expect(await second.client(api.invites.join, { code })).toMatchObject({ joined: true });
  });

  /** People with workspaces of their own, created once. */
  async function people(count: number): Promise<Person[]> {
    while (passersBy.length < count) passersBy.push(await app.signUp());
    return passersBy.slice(0, count);
  }

  /** The tables that contain a text unencrypted. */
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
