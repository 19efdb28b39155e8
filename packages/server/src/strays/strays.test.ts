import { randomUUID } from 'node:crypto';
import { api } from '@stagi/contract/api.ts';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  type CloudApp,
  CPU_OFFER,
  rentServer,
  startCloudApp,
  viewInstance,
  waitForStatus,
} from '../testing/cloudApp.ts';
import type { Person } from '../testing/person.ts';
import { sweepClouds } from './sweep.ts';

let app: CloudApp;
let alice: Person;
let operator: Person;
beforeAll(async () => {
  app = await startCloudApp();
  alice = await app.signUp();
  operator = await app.signUp();
  const { db } = app.ctx;
  await db.updateTable('workspace').set({ plan: 'Enterprise' }).where('id', '=', alice.workspaceId).execute();
  await db.updateTable('app_user').set({ is_employee: true }).where('id', '=', operator.userId).execute();
});
afterAll(() => app?.close());
afterEach(() => app.control.clearFaults());

const sweep = () => sweepClouds(app.ctx);
const strays = async (queryString?: string) =>
  (await operator.client(api.strays.list, { entityFilterRequest: { queryString, limit: 100 } })).entities;
const stateOf = async (name: string) =>
  (await app.control.report()).machines.findLast((machine) => machine.name === name)?.state;
const age = (name: string, seconds: number) =>
  sql`update stray set first_seen_at = first_seen_at - interval '1 second' * ${seconds} where name = ${name}`.execute(
    app.ctx.db,
  );

async function aClosedServer(): Promise<number> {
  const { id } = await rentServer(alice);
  await waitForStatus(alice, id, 'online');
  await alice.client(api.instances.terminate, { id });
  await waitForStatus(alice, id, 'terminated', 60_000);
  return id;
}

async function aMachineOf(id: number | string, name = `stagi-test-${id}`, tags = {}): Promise<string> {
  await app.control.stray({ name, offerId: 'sim-cpu-4', tags: { env: 'test', resource: String(id), ...tags } });
  return name;
}

describe('the sweep', () => {
  it('deletes a machine of a closed server after its quarantine, and not before', async () => {
    const id = await aClosedServer();
    const name = await aMachineOf(id);
    await sweep();
    expect(await strays(name)).toMatchObject([{ reason: 'closed', instanceId: id, deletedFrom: expect.any(String) }]);
    await age(name, 590);
    await sweep();
    // Its state alone would not tell: a cloud takes its time to delete.
    expect((await strays(name))[0]?.deletions, 'deleted before its 10 minutes of quarantine were over').toBe(0);
    await age(name, 11);
    await sweep();
    await expect.poll(() => stateOf(name), { timeout: 60_000 }).toBe('gone');
    await sweep();
    await sweep();
    expect(await strays(name)).toEqual([]);
  });

  it('retries the deletion at a cloud that only claimed to have deleted it', async () => {
    const id = await aClosedServer();
    const name = await aMachineOf(id);
    await sweep();
    await age(name, 601);
    await app.control.fault('terminate', { kind: 'falseDeleted', hiddenMs: 0 });
    await sweep();
    expect(await strays(name)).toMatchObject([{ deletions: 1 }]);
    await sweep();
    await expect.poll(() => stateOf(name), { timeout: 60_000 }).toBe('gone');
  });

  it('stores why a machine could not be deleted, and goes on with the others', async () => {
    const ids = [await aClosedServer(), await aClosedServer()];
    const names = await Promise.all(ids.map((id) => aMachineOf(id)));
    await sweep();
    for (const name of names) await age(name, 601);
    await app.control.fault('terminate', { kind: 'internal' });
    await sweep();
    expect((await strays()).filter(({ name }) => names.includes(name)).map(({ lastError }) => lastError)).toContain(
      'Something went wrong',
    );
    await sweep();
    for (const name of names) await expect.poll(() => stateOf(name), { timeout: 60_000 }).toBe('gone');
  });

  it('leaves everything else to the operator: unknown machines and second ones of a server', async () => {
    const { id } = await rentServer(alice);
    await waitForStatus(alice, id, 'online');
    const unknown = await aMachineOf(999_999_999);
    const nameless = await aMachineOf('x', 'somebody-elses');
    const second = await aMachineOf(id, `second-of-${id}`);
    await sweep();
    for (const name of [unknown, nameless, second]) await age(name, 100_000);
    await sweep();
    const reasons = new Map((await strays()).map((stray) => [stray.name, [stray.reason, stray.deletedFrom]]));
    expect(reasons.get(unknown)).toEqual(['unknown', null]);
    expect(reasons.get(nameless)).toEqual(['unknown', null]);
    expect(reasons.get(second)).toEqual(['second', null]);
    expect(reasons.has(`stagi-test-${id}`)).toBe(false);
    const deletions = (await strays()).filter(({ name }) => [unknown, nameless, second].includes(name));
    expect(
      deletions.map(({ name, deletions }) => [name, deletions]),
      'a machine of which only the operator may decide was deleted',
    ).toEqual(expect.arrayContaining([unknown, nameless, second].map((name) => [name, 0])));
    await alice.client(api.instances.terminate, { id });
  });

  it('leaves machines of another installation to the operator, also those that name a closed server', async () => {
    const id = await aClosedServer();
    const installation = app.ctx.installationId;
    expect(await app.machinesOf(id)).toMatchObject([{ tags: { installation } }]);
    const foreign = await aMachineOf(id, `foreign-${id}`, { installation: randomUUID() });
    const own = await aMachineOf(id, `own-${id}`, { installation });
    await sweep();
    for (const name of [foreign, own]) await age(name, 100_000);
    await sweep();
    await expect.poll(() => stateOf(own), { timeout: 60_000 }).toBe('gone');
    expect(await strays(foreign)).toMatchObject([{ reason: 'unknown', instanceId: null, deletions: 0 }]);
    await app.control.vanish(foreign);
    await sweep();
    await sweep();
  });

  it('keeps machines of closed servers that are many, except those that an operator has deleted', async () => {
    const id = await aClosedServer();
    const names = Array.from({ length: 13 }, (_, n) => `many-${id}-${n}`);
    await app.control.strays(
      names.map((name) => ({ name, offerId: 'sim-cpu-4', tags: { env: 'test', resource: String(id) } })),
    );
    await sweep();
    for (const name of names) await age(name, 601);
    await sweep();
    const kept = (await strays()).filter(({ name }) => names.includes(name));
    expect(kept.map(({ deletions }) => deletions)).toEqual(names.map(() => 0));
    const decided = kept.slice(0, 2);
    for (const stray of decided) await operator.client(api.strays.delete, { id: stray.id });
    await sweep();
    for (const { name } of decided) await expect.poll(() => stateOf(name), { timeout: 60_000 }).toBe('gone');
    expect((await strays()).filter(({ name }) => names.includes(name)).map(({ deletions }) => deletions)).toEqual(
      expect.arrayContaining(Array.from({ length: 11 }, () => 0)),
    );
    // Ten are few enough.
    await operator.client(api.strays.delete, { id: kept[2]!.id });
    await sweep();
    for (const name of names) await expect.poll(() => stateOf(name), { timeout: 60_000 }).toBe('gone');
  });

  it('does not mark a stray as gone after one list without it', async () => {
    const name = await aMachineOf(888_888_888);
    await sweep();
    await app.control.fault('list', { kind: 'partial', omit: 'all' });
    await sweep();
    await sweep();
    const [stray] = await strays(name);
    expect(stray?.firstSeenAt).toBeDefined();
    const { rows } = await sql<{ n: number }>`select count(*)::int as n from stray where name = ${name}`.execute(
      app.ctx.db,
    );
    expect(rows[0]?.n).toBe(1);
  });

  it('makes servers due whose machine is not listed', async () => {
    const { id } = await rentServer(alice);
    await waitForStatus(alice, id, 'online');
    const missed = async () => {
      const row = app.ctx.db.selectFrom('instance').select('misses').where('id', '=', id);
      return (await row.executeTakeFirstOrThrow()).misses;
    };
    await app.control.vanish(`stagi-test-${id}`);
    await sweep();
    await expect.poll(missed, { timeout: 60_000 }).toBe(1);
    await alice.client(api.instances.terminate, { id });
  });
});

describe('the operator', () => {
  it('has a stray deleted without waiting, once', async () => {
    const name = await aMachineOf(777_777_777);
    await sweep();
    const [stray] = await strays(name);
    const { entity } = await operator.client(api.strays.delete, { id: stray!.id });
    expect(entity).toMatchObject({ decision: 'delete', deletedFrom: expect.any(String) });
    await expect(operator.client(api.strays.delete, { id: stray!.id })).rejects.toMatchObject({ status: 200 });
    await sweep();
    await expect.poll(() => stateOf(name), { timeout: 60_000 }).toBe('gone');
  });

  it('assigns a stray to a workspace, where it is a server like any other until it is terminated', async () => {
    const name = await aMachineOf(666_666_666);
    await expect.poll(() => stateOf(name), { timeout: 60_000 }).toBe('running');
    await sweep();
    const [stray] = await strays(name);
    const wish = { id: stray!.id, workspaceId: alice.workspaceId, title: 'Found', slug: 'found' };
    await expect(operator.client(api.strays.adopt, { ...wish, offerId: 'local:no' })).rejects.toMatchObject({
      status: 400,
      body: { fieldsWithError: ['offerId'] },
    });
    const { instanceId } = await operator.client(api.strays.adopt, { ...wish, offerId: CPU_OFFER });
    await waitForStatus(alice, instanceId, 'online', 60_000);
    expect(await viewInstance(alice, instanceId)).toMatchObject({
      title: 'Found',
      ip: expect.any(String),
      createdBy: null,
    });
    const { entities: happened } = await alice.client(api.instances.activities, { id: instanceId });
    expect(happened.find(({ kind }) => kind === 'adopted')).toMatchObject({
      actor: null,
      detail: 'An operator found this machine and assigned it to the workspace',
    });
    const { entities: log } = await alice.client(api.audit.list, {});
    expect(log[0]).toMatchObject({
      action: 'admin/stray/adopt',
      actor: null,
      by: 'platform',
      object: { type: 'instance-rented', id: String(instanceId), label: 'found' },
      detail: { title: 'Found' },
    });
    const { entities: done } = await operator.client(api.audit.listForOperators, {});
    expect(done[0]).toMatchObject({
      action: 'admin/stray/adopt',
      actor: { userId: operator.userId },
      object: { type: 'admin/stray', id: String(stray!.id) },
      detail: { workspaceId: alice.workspaceId, names: { workspaceId: expect.stringContaining('workspace') } },
    });
    await sweep();
    await sweep();
    expect(await strays(name)).toEqual([]);
    await alice.client(api.instances.terminate, { id: instanceId });
    await waitForStatus(alice, instanceId, 'terminated', 60_000);
    expect(await stateOf(name)).toBe('gone');
  });

  it('gets 404 for a stray that does not exist', async () => {
    await expect(operator.client(api.strays.delete, { id: 999_999 })).rejects.toMatchObject({ status: 404 });
  });

  it('is the only one who sees strays', async () => {
    await expect(alice.client(api.strays.list, {})).rejects.toMatchObject({ status: 403 });
  });
});
