import { api } from '@stagi/contract/api.ts';
import { CallError } from '@stagi/contract/errors.ts';
import type { Role } from '@stagi/contract/permissions.ts';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aKey, type CloudApp, CPU_OFFER, startCloudApp } from '../testing/cloudApp.ts';
import { anSshKey, aRentedInstance, haveSteppedUp, makeOperator } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';

const WITHIN_MS = 20_000;

let app: CloudApp;
let operator: Person;
beforeAll(async () => {
  app = await startCloudApp();
  operator = await app.signUp('Olga Operator');
  await makeOperator(app.ctx, operator);
  await haveSteppedUp(app.ctx, operator);
});
afterAll(() => app?.close());

describe('while somebody is being removed', () => {
  it('what they make ends with their membership: tokens, and keys on servers', async () => {
    for (const act of [
      (max: Person) => max.client(api.apiTokens.create, { description: 'of the last moment' }),
      async (max: Person, server: number) =>
        max.client(api.instances.addSshKey, { id: server, sshKeyId: await anSshKey(app.ctx, max) }),
    ])
      await inTime(async () => {
        const alice = await app.signUp('Alice');
        const max = await app.signUp('Max');
        await join(alice, max, 'Developer');
        await haveSteppedUp(app.ctx, max);
        max.useWorkspace(alice.workspaceId);
        const server = await aRentedInstance(app.ctx, alice, 'stopped');
        const [made, removed] = await atOnce(
          alice.workspaceId,
          () => act(max, server),
          () => alice.client(api.clients.removeMember, { userId: max.userId }),
        );
        expectInTime(made, removed);
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
  it('what is rented is shut down with the rest, or is not rented', async () => {
    const rent = async (owner: Person) => {
      const sshKeyId = await aKey(owner);
      return () => owner.client(api.instances.rent, { offerId: CPU_OFFER, title: 'Late', slug: 'late', sshKeyId });
    };
    const disable = (owner: Person) => () =>
      operator.client(api.adminClients.disable, { id: owner.workspaceId, reason: 'Abuse', terminate: true });

    await inTime(async () => {
      const owner = await app.signUp();
      const [rented, disabled] = await atOnce(owner.workspaceId, await rent(owner), disable(owner));
      expectInTime(rented, disabled);
      expect([rented.status, disabled.status]).toEqual(['fulfilled', 'fulfilled']);
      expect(await wanted(owner)).toEqual(['gone']);
    });

    await inTime(async () => {
      const owner = await app.signUp();
      const [disabled, rented] = await atOnce(owner.workspaceId, disable(owner), await rent(owner));
      expectInTime(disabled, rented);
      expect(disabled.status).toBe('fulfilled');
      expect(rented).toMatchObject({
        status: 'rejected',
        reason: { status: 404, body: { fieldsWithError: ['X-Client-ID'] } },
      });
      expect(await wanted(owner)).toEqual([]);
    });
  });

  it('nobody’s role is changed in it any more', async () => {
    await inTime(async () => {
      const alice = await app.signUp('Alice');
      const max = await app.signUp('Max');
      await join(alice, max, 'Guest');
      const [disabled, changed] = await atOnce(
        alice.workspaceId,
        () => operator.client(api.adminClients.disable, { id: alice.workspaceId, reason: 'Abuse' }),
        () => alice.client(api.clients.editMember, { userId: max.userId, role: 'Admin' }),
      );
      expectInTime(disabled, changed);
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

type Ends = [PromiseSettledResult<unknown>, PromiseSettledResult<unknown>];

/**
 * Has one act begin, and another one when the first has done all but write itself into the log of the workspace. The
 * second waits for the log as well, or for something that the first holds.
 */
async function atOnce(
  workspaceId: number,
  first: () => Promise<unknown>,
  second: () => Promise<unknown>,
): Promise<Ends> {
  const client = new pg.Client({ connectionString: app.databaseUrl });
  await client.connect();
  await client.query('begin');
  await client.query('insert into audit_head (chain) values ($1) on conflict do nothing', [workspaceId]);
  await client.query('select 1 from audit_head where chain = $1 for update', [workspaceId]);
  let over = 0;
  const follow = (act: () => Promise<unknown>): Promise<unknown> => act().finally(() => (over += 1));
  const waiting = (least: number): Promise<void> =>
    expect
      .poll(async () => over > 0 || (await waitingFor(client)) >= least, { timeout: WITHIN_MS, interval: 20 })
      .toBe(true);

  const one = follow(first);
  const ended = Promise.allSettled([one]);
  await waiting(1);
  const two = follow(second);
  const all = Promise.allSettled([one, two]);
  await waiting(2);
  await client.query('commit');
  await client.end();
  await ended;
  return all as Promise<Ends>;
}

/** How many wait for what this connection holds, or for somebody who does. */
async function waitingFor(client: pg.Client): Promise<number> {
  // Who is there is looked up once a transaction.
  await client.query('select pg_stat_clear_snapshot()');
  const { rows } = await client.query<{ n: number }>(
    `with recursive behind (pid) as (
       select pg_backend_pid()
       union select a.pid from pg_stat_activity a join behind b on b.pid = any(pg_blocking_pids(a.pid))
         where a.datname = current_database())
     select count(*)::int - 1 as n from behind`,
  );
  return rows[0]!.n;
}

class TooLate extends Error {}

/** A machine that does ten other things may keep an act from its lock for longer than a lock is waited for. */
function expectInTime(...ends: readonly PromiseSettledResult<unknown>[]): void {
  const isLate = ends.some(
    (end) => end.status === 'rejected' && end.reason instanceof CallError && end.reason.status === 503,
  );
  if (isLate) throw new TooLate('answered 503');
}

async function inTime(scene: () => Promise<void>): Promise<void> {
  for (let again = 1; ; again += 1)
    try {
      return await scene();
    } catch (error) {
      if (!(error instanceof TooLate) || again === 5) throw error;
    }
}
