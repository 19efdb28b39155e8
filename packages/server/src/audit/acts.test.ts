import { api } from '@stagi/contract/api.ts';
import type { AuditEntry } from '@stagi/contract/audit.ts';
import { CallError } from '@stagi/contract/errors.ts';
import { ROLES, type Role } from '@stagi/contract/permissions.ts';
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { aSelfHostedServer, makeOperator, markSteppedUp } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';

/** More than the pool has connections. */
const AT_ONCE = 12;
const SOON = { timeout: 60_000, interval: 20 };

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({}, { role: 'api' });
});
afterAll(() => app?.close());

it('records refusals without a second connection, so that many at once do not deadlock', async () => {
  const alice = await app.signUp('Alice');
  await join(alice, await app.signUp(), 'Guest');
  const answers = await Promise.all(
    Array.from({ length: AT_ONCE }, () => outcome(alice.client(api.invites.create, { role: 'Guest' }))),
  );
  console.log(`refused at once: n = ${answers.length}`);
  expect(answers).toEqual(Array.from({ length: AT_ONCE }, () => 200));
  const { entities, totalCount } = await log(alice, AT_ONCE);
  expect(totalCount).toBe(AT_ONCE);
  expect(entities.every(({ action, outcome: how }) => action === 'client/invite/create' && how === 'refused')).toBe(
    true,
  );
});

it('records the state after one act as the state before the next, also in parallel', async () => {
  const alice = await app.signUp('Alice');
  const max = await app.signUp('Max');
  await join(alice, max, 'Guest');
  const roles = ROLES.filter((role) => role !== 'Owner');
  const server = await aSelfHostedServer(app.ctx, alice);
  await Promise.all(
    Array.from({ length: AT_ONCE }, (_, n) =>
      n % 2 === 0
        ? untilDone(() =>
            alice.client(api.clients.editMember, { userId: max.userId, role: roles[(n / 2) % roles.length]! }),
          )
        : untilDone(() => alice.client(api.selfHosted.edit, { id: server, title: `Title ${n}` })),
    ),
  );
  const { entities } = await log(alice, AT_ONCE);
  let n = 0;
  for (const type of ['client/member', 'self-hosted-instance']) {
    const acts = entities.filter(({ object }) => object?.type === type).toReversed();
    for (const [index, act] of acts.entries()) {
      if (index > 0) expect.soft(act.before, `${type} ${index}`).toBe(acts[index - 1]!.after);
      n += 1;
    }
  }
  console.log(`acts upon one thing at once: n = ${n}`);
  expect(n).toBe(AT_ONCE);
});

it('records neither an outage nor input that cannot be stored', async () => {
  const alice = await app.signUp('Alice');
  expect(await outcome(alice.client(api.clients.edit, { newName: 'No\u0000t storable' }))).toBe(400);
  const held = await hold(sql`select 1 from workspace where id = ${alice.workspaceId} for no key update`);
  const renamed = outcome(alice.client(api.clients.edit, { newName: 'Renamed' }));
  await held.cancelWaiting();
  expect(await renamed).toBe(503);
  await held.letGo();
  expect((await log(alice)).entities).toEqual([]);
});

it('records that an operator had the ledger verified', async () => {
  const olga = await app.signUp('Olga');
  await makeOperator(app.ctx, olga);
  await olga.client(api.ledger.verify, {});
  const { entities } = await olga.client(api.audit.listForOperators, {});
  expect(entities[0]).toMatchObject({
    action: 'admin/ledger/verify',
    outcome: 'done',
    actor: { userId: olga.userId },
  });
});

it('records once that an operator exported or checked a log; an export in that log too', async () => {
  const [olga, otto] = [await app.signUp('Olga'), await app.signUp('Otto')];
  for (const operator of [olga, otto]) await makeOperator(app.ctx, operator);
  const alice = await app.signUp('Alice');
  await alice.client(api.clients.edit, { newName: 'Lab' });
  const { workspaceId } = alice;
  const acts = async () => {
    const { entities } = await olga.client(api.audit.listForOperators, { entityFilterRequest: { limit: 100 } });
    return entities.filter(({ object }) => object?.type === 'admin/client' && object.id === String(workspaceId));
  };

  await olga.client(api.audit.exportForOperators, { workspaceId, areas: ['client'] });
  // A part that goes on, and one that begins somewhere without having begun.
  await olga.client(api.audit.exportForOperators, { workspaceId, areas: ['client'], before: 1 });
  await otto.client(api.audit.exportForOperators, { workspaceId, before: 2, userIds: [alice.userId] });
  expect(await acts()).toMatchObject([
    {
      action: 'admin/audit/export',
      actor: { userId: otto.userId },
      detail: { before: 2, userIds: [alice.userId], names: { userIds: 'Alice' } },
    },
    {
      action: 'admin/audit/export',
      actor: { userId: olga.userId },
      by: 'session',
      outcome: 'done',
      object: { label: 'Lab' },
      detail: { areas: ['client'] },
    },
  ]);
  expect(await acts()).toHaveLength(2);
  const { entities } = await log(alice);
  expect(entities.map(({ action, actor }) => [action, actor?.userId])).toEqual([
    ['admin/audit/export', undefined],
    ['admin/audit/export', undefined],
    ['client/edit', alice.userId],
  ]);

  expect(await olga.client(api.audit.verifyForOperators, { workspaceId })).toMatchObject({ broken: null, checked: 3 });
  expect((await acts())[0]).toMatchObject({ action: 'admin/audit/verify', actor: { userId: olga.userId }, detail: {} });
  expect((await log(alice)).totalCount).toBe(3);

  // Of the operators' own log there is one chain to tell it in.
  await olga.client(api.audit.exportForOperators, {});
  const { entities: own } = await olga.client(api.audit.listForOperators, {});
  expect(own[0]).toMatchObject({ action: 'admin/audit/export', object: { type: 'admin/client', id: null } });
  expect(own[1]).toMatchObject({ action: 'admin/audit/verify' });
  expect(await olga.client(api.audit.verifyForOperators, {})).toMatchObject({ broken: null });
});

it('records for the other members that somebody deleted their account, without naming them', async () => {
  const alice = await app.signUp('Alice');
  const max = await app.signUp('Max Secret');
  await join(alice, max, 'Developer');
  await markSteppedUp(app.ctx, max);
  await max.client(api.account.delete, { email: max.email });
  const { entities } = await log(alice);
  expect(entities).toMatchObject([
    { action: 'user/delete', outcome: 'done', object: { type: 'client/member', id: String(max.userId), label: null } },
  ]);
  expect(entities[0]?.actor?.userId).toBe(max.userId);
  expect(JSON.stringify(entities)).not.toContain('Max Secret');
  expect(JSON.stringify(entities)).not.toContain(max.email);
  expect(await alice.client(api.audit.verify, {})).toMatchObject({ checked: 1, broken: null });
});

async function join({ workspaceId }: Person, { userId }: Person, role: Role): Promise<void> {
  await app.ctx.db.insertInto('membership').values({ workspace_id: workspaceId, user_id: userId, role }).execute();
}

const log = (person: Person, limit = 10): Promise<{ entities: AuditEntry[]; totalCount: number }> =>
  person.client(api.audit.list, { entityFilterRequest: { limit } });

const outcome = (answer: Promise<unknown>): Promise<number | 'done'> =>
  answer.then(
    () => 'done',
    (error: unknown) => {
      if (error instanceof CallError) return error.status;
      throw error;
    },
  );

/** On a busy machine one of many may get 503 and is retried. */
async function untilDone(act: () => Promise<unknown>): Promise<void> {
  const until = Date.now() + SOON.timeout;
  while ((await outcome(act())) === 503) if (Date.now() > until) throw new Error('told to come again and again');
}

/** Locks rows until they are released. */
async function hold(rows: ReturnType<typeof sql>) {
  const client = new pg.Client({ connectionString: app.databaseUrl });
  await client.connect();
  const { sql: text, parameters } = rows.compile(app.ctx.db);
  await client.query('begin');
  await client.query(text, [...parameters]);
  return {
    /** Ends the statements that wait for them, as an administrator or a time limit would. */
    async cancelWaiting(): Promise<void> {
      const cancel = async () => {
        // pg_stat_activity is read once per transaction.
        await client.query('select pg_stat_clear_snapshot()');
        const { rows: ended } = await client.query(
          `select pg_cancel_backend(pid) from pg_stat_activity
           where datname = current_database() and pg_backend_pid() = any(pg_blocking_pids(pid))`,
        );
        return ended.length;
      };
      await expect.poll(cancel, SOON).toBeGreaterThan(0);
    },
    async letGo(): Promise<void> {
      await client.query('rollback');
      await client.end();
    },
  };
}
