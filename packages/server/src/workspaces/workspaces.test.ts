import { api } from '@stagi/contract/api.ts';
import { CallError } from '@stagi/contract/errors.ts';
import { ROLES, type Role } from '@stagi/contract/permissions.ts';
import { STREAM_CLOSE } from '@stagi/contract/streams.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { authorizedKeys } from '../instances/sshAccess.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { eventsOf } from '../testing/eventStream.ts';
import { anApiToken, anAuthorizedApp, anSshKey, aRentedInstance, markSteppedUp } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';

const PATIENCE = { timeout: 60_000, interval: 25 };

it('are on the plan that the platform is set to, the personal one and further ones', async () => {
  const app = await startTestApp({ DEFAULT_PLAN: 'Team' }, { role: 'api' });
  try {
    const ada = await app.signUp('Ada');
    const { entity } = await ada.client(api.clients.create, { name: 'Lab' });
    expect(entity.subscriptionPlan).toBe('Team');
    const { userProfile } = await ada.client(api.user.profile, {});
    expect(userProfile.clientRelations.map(({ subscriptionPlan }) => subscriptionPlan)).toEqual(['Team', 'Team']);
    expect((await ada.client(api.invites.list, {})).seats.limit).toBe(8);
  } finally {
    await app.close();
  }
});

describe('workspaces', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startTestApp();
  });
  afterAll(() => app?.close());

  it('can be created, five besides the personal one, with a balance of 0, also in parallel', async () => {
    const ada = await app.signUp('Ada');
    const { entity } = await ada.client(api.clients.create, { name: ' Lab ' });
    expect(entity).toMatchObject({ clientName: 'Lab', roleName: 'Owner', subscriptionPlan: 'Free' });
    expect((await relations(ada)).map(({ clientName }) => clientName)).toEqual(['Ada’s workspace', 'Lab']);
    const home = ada.workspaceId;
    ada.useWorkspace(entity.clientId);
    expect((await ada.client(api.billing.balance, {})).clientBalance.STAGI.decimalValue).toMatch(/^0(\.0+)?$/);
    ada.useWorkspace(home);
    const made = await Promise.allSettled(
      Array.from({ length: 6 }, (_, at) => ada.client(api.clients.create, { name: `More ${at}` })),
    );
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(4);
    await expect(ada.client(api.clients.create, { name: 'Sixth' })).rejects.toThrow(
      'You can create at most 5 workspaces',
    );
    await expect(ada.client(api.clients.create, { name: ' ' })).rejects.toThrow('Name is required');
  });

  it('are named after their user, whose name is cut if it is too long', async () => {
    const named = async (name: string) => (await relations(await app.signUp(name)))[0]?.clientName;
    expect(await named('L'.repeat(88))).toBe(`${'L'.repeat(88)}’s workspace`);
    expect(await named('L'.repeat(100))).toBe(`${'L'.repeat(87)}…’s workspace`);
    expect(await named(`${'L'.repeat(86)}😀${'L'.repeat(10)}`)).toBe(`${'L'.repeat(86)}…’s workspace`);
  });

  it('are renamed by members with that permission, and open pages of all members are notified', async () => {
    const { owner, others } = await team('Admin', 'Developer');
    const [admin, developer] = others as [Person, Person];
    const { entity } = await admin.client(api.clients.edit, { newName: 'Renamed' });
    expect(entity).toMatchObject({ clientId: owner.workspaceId, clientName: 'Renamed', roleName: 'Admin' });
    expect((await relations(developer)).map(({ clientName }) => clientName)).toContain('Renamed');
    await expect(developer.client(api.clients.edit, { newName: 'Mine' })).rejects.toMatchObject({ status: 403 });
  });

  it('list their members by name, address and role, a page at a time', async () => {
    const { owner, others } = await team('Admin', 'Guest', 'Guest');
    const list = async (input: object) => (await owner.client(api.clients.members, input)).entities;
    const all = await list({});
    expect(all).toHaveLength(4);
    expect(all.filter(({ isMe }) => isMe)).toMatchObject([{ userId: owner.userId, hold: 'last-owner' }]);
    expect(await list({ roles: ['Guest'] })).toHaveLength(2);
    expect(await list({ roles: [] })).toHaveLength(4);
    expect(await list({ entityFilterRequest: { queryString: others[0]!.email } })).toMatchObject([
      { userId: others[0]!.userId, email: others[0]!.email, roleName: 'Admin' },
    ]);
    const page = await owner.client(api.clients.members, { entityFilterRequest: { limit: 3, page: 2 } });
    expect(page).toMatchObject({ totalCount: 4, totalPages: 2, entities: [{}] });
    for (const orderByField of ['name', 'email', 'roleName', 'createdAt'])
      expect(await list({ entityFilterRequest: { orderByField } })).toHaveLength(4);
    const asAdmin = (await others[0]!.client(api.clients.members, {})).entities;
    expect(asAdmin.find(({ userId }) => userId === owner.userId)?.hold).toBe('more-power');
  });

  it('list the roles, and which of them the caller may grant', async () => {
    const { owner, others } = await team('Admin', 'Developer');
    const grantable = async (person: Person) =>
      (await person.client(api.clients.roles, {})).entities
        .filter((role) => role.grantable)
        .map((role) => role.roleName);
    expect(await grantable(owner)).toEqual([...ROLES]);
    expect(await grantable(others[0]!)).toEqual(['Admin', 'Developer', 'Billing', 'Guest']);
    expect(await grantable(others[1]!)).toEqual([]);
  });

  it('let nobody grant, change or remove a role with permissions that they lack', async () => {
    const { owner, others } = await team('Guest', 'Guest');
    const [actor, target] = others as [Person, Person];
    await markSteppedUp(app.ctx, actor);
    let n = 0;
    for (const actorRole of ROLES) {
      for (const targetRole of ROLES) {
        const mayTouch = actorRole === 'Owner' || (actorRole === 'Admin' && targetRole !== 'Owner');
        for (const role of ROLES) {
          await setRoles(owner.workspaceId, [actor, actorRole], [target, targetRole]);
          const mayGive = actorRole === 'Owner' || (actorRole === 'Admin' && role !== 'Owner');
          const others = await outcome(actor.client(api.clients.editMember, { userId: target.userId, role }));
          expect.soft(others, `${actorRole}: ${targetRole} becomes ${role}`).toBe(mayTouch && mayGive);
          expect.soft(await roleOf(target, owner.workspaceId)).toBe(mayTouch && mayGive ? role : targetRole);
          const own = await outcome(actor.client(api.clients.editMember, { userId: actor.userId, role }));
          expect.soft(own, `${actorRole} becomes ${role} by themselves`).toBe(mayGive);
          n += 2;
        }
        await setRoles(owner.workspaceId, [actor, actorRole], [target, targetRole]);
        const removed = await outcome(actor.client(api.clients.removeMember, { userId: target.userId }));
        expect.soft(removed, `${actorRole} removes ${targetRole}`).toBe(mayTouch);
        n += 1;
      }
    }
    console.log(`changes of members by role: n = ${n}`);
    expect(n).toBeGreaterThan(0);
  });

  it('get another owner only after a step-up', async () => {
    const { owner, others } = await team('Guest');
    const [guest] = others as [Person];
    const promote = (role: Role) => owner.client(api.clients.editMember, { userId: guest.userId, role });
    await promote('Admin');
    await expect(promote('Owner')).rejects.toMatchObject({ status: 403, body: { code: 'step-up' } });
    expect(await roleOf(guest, owner.workspaceId)).toBe('Admin');
    await markSteppedUp(app.ctx, owner);
    await promote('Owner');
    expect(await roleOf(guest, owner.workspaceId)).toBe('Owner');
  });

  it('keep their last owner, also when two leave at the same moment', async () => {
    const { owner, others } = await team('Owner', 'Admin');
    const [second, admin] = others as [Person, Person];
    const left = await Promise.allSettled([owner.client(api.clients.leave, {}), second.client(api.clients.leave, {})]);
    expect(left.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const refusal = left.find((result) => result.status === 'rejected');
    expect(String(refusal?.reason)).toContain('A workspace needs an owner');
    const { entities } = await admin.client(api.clients.members, { roles: ['Owner'] });
    expect(entities).toHaveLength(1);

    const { owner: alone } = await team('Admin');
    for (const act of [
      () => alone.client(api.clients.leave, {}),
      () => alone.client(api.clients.editMember, { userId: alone.userId, role: 'Admin' }),
      () => alone.client(api.clients.removeMember, { userId: alone.userId }),
    ])
      await expect(act()).rejects.toThrow('A workspace needs an owner. Make somebody else its owner first.');
    const byHand = app.ctx.db.updateTable('membership').set({ role: 'Guest' }).where('user_id', '=', alone.userId);
    await expect(byHand.where('workspace_id', '=', alone.workspaceId).execute()).rejects.toThrow('needs an owner');
  });

  it('can be left by an owner when another enabled owner stays', async () => {
    const { owner, others } = await team('Owner');
    const [second] = others as [Person];
    await app.ctx.db.updateTable('app_user').set({ disabled_at: new Date() }).where('id', '=', second.userId).execute();
    await expect(owner.client(api.clients.leave, {})).rejects.toThrow('A workspace needs an owner');
    await app.ctx.db.updateTable('app_user').set({ disabled_at: null }).where('id', '=', second.userId).execute();
    await owner.client(api.clients.leave, {});
    await expect(owner.client(api.clients.roles, {})).rejects.toMatchObject({ status: 404 });
  });

  it('revoke all access of a removed member: calls, streams, tokens, SSH keys on servers', async () => {
    const { owner, others } = await team('Developer');
    const [member] = others as [Person];
    const server = await aRentedInstance(app.ctx, owner);
    const keys = [await anSshKey(app.ctx, member), await anSshKey(app.ctx, owner)];
    for (const ssh_key_id of keys)
      await app.ctx.db.insertInto('instance_ssh_key').values({ instance_id: server, ssh_key_id }).execute();
    const { token } = await anApiToken(app.ctx, member);
    const letIn = await anAuthorizedApp(app.ctx, member);
    await app.ctx.db
      .updateTable('session')
      .set({ app_workspace_id: owner.workspaceId })
      .where('id', '=', letIn)
      .execute();
    const events = await eventsOf(app.url, member);
    const nodes: number[] = [];
    const unsubscribe = app.ctx.bus.subscribe('node', ({ instanceId }) => nodes.push(instanceId));

    await owner.client(api.clients.removeMember, { userId: member.userId });
    await expect(member.client(api.instances.list, {})).rejects.toMatchObject({ status: 404 });
    const byToken = await app.post('instance-rented/list', {}, { authorization: `Bearer ${token}` });
    expect(byToken.status).toBe(401);
    expect(await events.closed).toBe(STREAM_CLOSE.workspaceGone);
    await expect.poll(() => nodes, PATIENCE).toEqual([server]);
    unsubscribe();
    expect(await authorizedKeys(app.ctx.db, server)).toHaveLength(1);
    const { entities } = await owner.client(api.instances.activities, { id: server });
    expect(entities.map(({ kind }) => kind)).toContain('ssh key removed');
    // They must not learn its later name.
    const before = (await relations(owner))[0]!.clientName;
    await owner.client(api.clients.edit, { newName: 'Secret venture' });
    const archived = await member.client(api.apiTokens.list, { archived: true });
    expect(archived.entities.map(({ clientName }) => clientName)).toEqual([before]);
    for (const [queryString, found] of [
      ['secret', 0],
      [before, 1],
    ] as const) {
      const { totalCount } = await member.client(api.apiTokens.list, {
        archived: true,
        entityFilterRequest: { queryString },
      });
      expect(totalCount).toBe(found);
    }
    expect((await member.client(api.apps.consents, {})).entities).toEqual([]);
    // Nothing is restored when they join again.
    await app.ctx.db
      .insertInto('membership')
      .values({ workspace_id: owner.workspaceId, user_id: member.userId, role: 'Developer' })
      .execute();
    expect(await authorizedKeys(app.ctx.db, server)).toHaveLength(1);
    expect((await app.post('instance-rented/list', {}, { authorization: `Bearer ${token}` })).status).toBe(401);
    expect((await member.client(api.apps.consents, {})).entities).toEqual([]);
  });

  it('recheck the caller’s role after the wait for the lock: who lost it meanwhile changes nothing', async () => {
    let n = 0;
    const { owner, others } = await team('Admin', 'Guest');
    const [admin, guest] = others as [Person, Person];
    for (let round = 0; round < 20; round += 1) {
      await setRoles(owner.workspaceId, [admin, 'Admin'], [guest, 'Guest']);
      const [demoted, promoted] = await Promise.allSettled([
        owner.client(api.clients.editMember, { userId: admin.userId, role: 'Guest' }),
        admin.client(api.clients.editMember, { userId: guest.userId, role: 'Admin' }),
      ]);
      expect(demoted.status).toBe('fulfilled');
      const { entities } = await owner.client(api.clients.members, {});
      const now = (person: Person) => entities.find(({ userId }) => userId === person.userId)?.roleName;
      expect(now(admin)).toBe('Guest');
      expect(now(guest)).toBe(promoted.status === 'fulfilled' ? 'Admin' : 'Guest');
      n += 1;
    }
    console.log(`demotions against promotions: n = ${n}`);
  });

  /** A workspace with members of these roles, who act in it. */
  async function team(...roles: Role[]): Promise<{ owner: Person; others: Person[] }> {
    const owner = await app.signUp();
    const others: Person[] = [];
    for (const role of roles) {
      const person = await app.signUp();
      await setRoles(owner.workspaceId, [person, role]);
      person.useWorkspace(owner.workspaceId);
      others.push(person);
    }
    return { owner, others };
  }

  async function setRoles(workspace_id: number, ...members: [Person, Role][]): Promise<void> {
    for (const [{ userId }, role] of members)
      await app.ctx.db
        .insertInto('membership')
        .values({ workspace_id, user_id: userId, role })
        .onConflict((conflict) => conflict.columns(['workspace_id', 'user_id']).doUpdateSet({ role }))
        .execute();
  }

  async function roleOf({ userId }: Person, workspaceId: number): Promise<Role | undefined> {
    const row = await app.ctx.db
      .selectFrom('membership')
      .select('role')
      .where('user_id', '=', userId)
      .where('workspace_id', '=', workspaceId)
      .executeTakeFirst();
    return row?.role;
  }
});

const relations = async (person: Person) => (await person.client(api.user.profile, {})).userProfile.clientRelations;

/** Whether a change was made; false when the permission is missing, any other error is thrown. */
async function outcome(change: Promise<unknown>): Promise<boolean> {
  try {
    await change;
    return true;
  } catch (error) {
    if (error instanceof CallError && error.status === 403) return false;
    throw error;
  }
}
