import { api } from '@stagi/contract/api.ts';
import type { Role } from '@stagi/contract/permissions.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aKey, type CloudApp, CPU_OFFER, startCloudApp } from '../testing/cloudApp.ts';
import { anSshKey, aRentedInstance, makeOperator, markSteppedUp } from '../testing/factories.ts';
import { interleave, retryOnOverload } from '../testing/interleave.ts';
import type { Person } from '../testing/person.ts';

let app: CloudApp;
let operator: Person;
beforeAll(async () => {
  app = await startCloudApp();
  operator = await app.signUp('Olga Operator');
  await makeOperator(app.ctx, operator);
  await markSteppedUp(app.ctx, operator);
});
afterAll(() => app?.close());

describe('while somebody is being removed', () => {
  it('tokens and SSH keys that they add meanwhile are revoked with the membership', async () => {
    for (const act of [
      (max: Person) => max.client(api.apiTokens.create, { description: 'of the last moment' }),
      async (max: Person, server: number) =>
        max.client(api.instances.addSshKey, { id: server, sshKeyId: await anSshKey(app.ctx, max) }),
    ])
      await retryOnOverload(async () => {
        const alice = await app.signUp('Alice');
        const max = await app.signUp('Max');
        await join(alice, max, 'Developer');
        await markSteppedUp(app.ctx, max);
        max.useWorkspace(alice.workspaceId);
        const server = await aRentedInstance(app.ctx, alice, 'stopped');
        const [made, removed] = await interleave(
          app,
          alice.workspaceId,
          () => act(max, server),
          () => alice.client(api.clients.removeMember, { userId: max.userId }),
        );
        expect([made.status, removed.status]).toEqual(['fulfilled', 'fulfilled']);
        const { rows } = await app.ctx.pg.query(
          `select id::text from api_token where workspace_id = $1 and archived_at is null
           union all select ssh_key_id::text from instance_ssh_key where instance_id = $2`,
          [alice.workspaceId, server],
        );
        expect(rows).toEqual([]);
      });
  });
});

describe('while a workspace is being disabled', () => {
  it('a rent either is refused or its server is shut down with the others', async () => {
    const rent = async (owner: Person) => {
      const sshKeyId = await aKey(owner);
      return () => owner.client(api.instances.rent, { offerId: CPU_OFFER, title: 'Late', slug: 'late', sshKeyId });
    };
    const disable = (owner: Person) => () =>
      operator.client(api.adminClients.disable, { id: owner.workspaceId, reason: 'Abuse', terminate: true });

    await retryOnOverload(async () => {
      const owner = await app.signUp();
      const [rented, disabled] = await interleave(app, owner.workspaceId, await rent(owner), disable(owner));
      expect([rented.status, disabled.status]).toEqual(['fulfilled', 'fulfilled']);
      expect(await wanted(owner)).toEqual(['gone']);
    });

    await retryOnOverload(async () => {
      const owner = await app.signUp();
      const [disabled, rented] = await interleave(app, owner.workspaceId, disable(owner), await rent(owner));
      expect(disabled.status).toBe('fulfilled');
      expect(rented).toMatchObject({
        status: 'rejected',
        reason: { status: 404, body: { fieldsWithError: ['X-Client-ID'] } },
      });
      expect(await wanted(owner)).toEqual([]);
    });
  });

  it('by an operator who also rents in it, neither request deadlocks', async () => {
    let n = 0;
    for (const plan of ['Free', 'Team'] as const)
      for (const isFirst of [true, false])
        await retryOnOverload(async () => {
          const olga = await app.signUp('Olga Owner');
          await makeOperator(app.ctx, olga);
          await markSteppedUp(app.ctx, olga);
          const { workspaceId } = olga;
          await app.ctx.db.updateTable('workspace').set({ plan }).where('id', '=', workspaceId).execute();
          await olga.client(api.clients.create, { name: 'Where she acts from' });
          const sshKeyId = await aKey(olga);
          const rent = () =>
            olga.client(api.instances.rent, { offerId: CPU_OFFER, title: 'Own', slug: 'own', sshKeyId });
          const disable = () => olga.client(api.adminClients.disable, { id: workspaceId, reason: 'My own' });
          const ends = await interleave(app, workspaceId, isFirst ? rent : disable, isFirst ? disable : rent);
          const [rented, disabled] = isFirst ? ends : ends.toReversed();
          expect(disabled?.status).toBe('fulfilled');
          if (isFirst) expect(rented?.status).toBe('fulfilled');
          else expect(rented).toMatchObject({ status: 'rejected', reason: { status: 404 } });
          expect(await wanted(olga)).toEqual(isFirst ? ['gone'] : []);
          n += 1;
        });
    console.log(`disabling one’s own workspace while renting in it: n = ${n}`);
    expect(n).toBe(4);
  });

  it('a change of a role is refused', async () => {
    await retryOnOverload(async () => {
      const alice = await app.signUp('Alice');
      const max = await app.signUp('Max');
      await join(alice, max, 'Guest');
      const [disabled, changed] = await interleave(
        app,
        alice.workspaceId,
        () => operator.client(api.adminClients.disable, { id: alice.workspaceId, reason: 'Abuse' }),
        () => alice.client(api.clients.editMember, { userId: max.userId, role: 'Admin' }),
      );
      expect(disabled.status).toBe('fulfilled');
      expect(changed).toMatchObject({ status: 'rejected', reason: { status: 404 } });
      const { rows } = await app.ctx.pg.query('select role from membership where workspace_id = $1 and user_id = $2', [
        alice.workspaceId,
        max.userId,
      ]);
      expect(rows).toEqual([{ role: 'Guest' }]);
    });
  });
});

describe('while somebody deletes their account', () => {
  it('joining, creating workspaces and inviting are refused', async () => {
    const link = await aLink();
    for (const act of [
      (max: Person) => max.client(api.invites.join, { code: link }),
      (max: Person) => max.client(api.clients.create, { name: 'Nobody’s' }),
      (max: Person) => max.client(api.sshKeys.generate, { title: 'left behind' }),
    ])
      await retryOnOverload(async () => {
        const alice = await app.signUp('Alice');
        const max = await app.signUp('Max');
        await join(alice, max, 'Guest');
        await markSteppedUp(app.ctx, max);
        const [deleted, made] = await interleave(
          app,
          alice.workspaceId,
          () => max.client(api.account.delete, { email: max.email }),
          () => act(max),
        );
        expect(deleted.status).toBe('fulfilled');
        expect(made).toMatchObject({ status: 'rejected', reason: { status: 401 } });
        const { rows } = await app.ctx.pg.query(
          `select 'member' from membership where user_id = $1 union all select 'key' from ssh_key where user_id = $1
           union all select 'maker' from workspace where created_by = $1 and deleted_at is null`,
          [max.userId],
        );
        expect(rows).toEqual([]);
      });
  });
});

async function aLink(): Promise<string> {
  const bob = await app.signUp('Bob');
  await app.ctx.db.updateTable('workspace').set({ plan: 'Team' }).where('id', '=', bob.workspaceId).execute();
  return (await bob.client(api.invites.create, { role: 'Guest', uses: 10 })).link.slice(-43);
}

async function join({ workspaceId }: Person, { userId }: Person, role: Role): Promise<void> {
  await app.ctx.db.insertInto('membership').values({ workspace_id: workspaceId, user_id: userId, role }).execute();
}

async function wanted({ workspaceId }: Person): Promise<string[]> {
  const rows = await app.ctx.db
    .selectFrom('instance')
    .select('desired')
    .where('workspace_id', '=', workspaceId)
    .execute();
  return rows.map(({ desired }) => desired);
}
