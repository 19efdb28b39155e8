import { api } from '@stagi/contract/api.ts';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { transitionInstance } from '../instances/status.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import type { Person } from '../testing/person.ts';
import { connectTaskDaemon } from './testing/taskDaemon.ts';
import { aConnectedServer, expectNothingLeft, type TaskServer } from './testing/taskServer.ts';

let app: TestApp;
let alice: Person;
let server: TaskServer;

beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app?.close());
beforeEach(async () => {
  alice = await app.signUp();
  server = await aConnectedServer(app, alice);
});
afterEach(() => server.daemon.close());

const nothingIsLeft = () => expectNothingLeft(app, alice.workspaceId);
const setServer = (status: string) =>
  app.ctx.db.transaction().execute((trx) => transitionInstance(app.ctx, trx, server.id, status, {}));

describe('canceling', () => {
  const cancel = (id: number) => alice.client(api.tasks.cancel, { id });

  it('ends a task without a place at once', async () => {
    const id = await server.submit({ not_before: new Date(Date.now() + 60_000) });
    expect((await cancel(id)).entity.status).toBe('canceled');
    await nothingIsLeft();
  });

  it('removes one that has not started', async () => {
    server.daemon.behaviour.prepares = false;
    const id = await server.submit();
    const container = await server.containerOf(id);
    await expect.poll(() => server.daemon.shown(container)?.state).toBe('created');
    await cancel(id);
    await server.reaches(id, 'canceled');
    expect(server.daemon.starts.size).toBe(0);
    await nothingIsLeft();
  });

  it('stops a running one and stores its output', async () => {
    server.daemon.behaviour.saves = false;
    const id = await server.submit();
    await server.reaches(id, 'running');
    const container = await server.containerOf(id);
    expect((await cancel(id)).entity.status).toBe('canceling');
    await expect.poll(() => server.daemon.shown(container)?.state).toBe('exited');
    expect(server.daemon.asked.get(container)!.at(-1)!.state).toBe('stopped');
    expect((await server.view(id)).status).toBe('canceling');
    server.daemon.report(container, { phase: 'saved', files: 2 });
    expect(await server.reaches(id, 'canceled')).toMatchObject({ runs: [{ output: { phase: 'saved', files: 2 } }] });
    await nothingIsLeft();
  });

  it('tells the start of one that was canceled before its start was noted', async () => {
    const id = await server.submit();
    await server.reaches(id, 'running');
    await sql`with run as (update task_run set started_at = null where task_id = ${id})
      update task set started_at = null where id = ${id}`.execute(app.ctx.db);
    await cancel(id);
    await server.reaches(id, 'canceled');
    const { startedAt, runs } = await server.view(id);
    expect(startedAt).toEqual(expect.any(String));
    expect(runs[0]!.startedAt).toBe(startedAt);
  });

  it('gives up the output after ten minutes', async () => {
    server.daemon.behaviour.saves = false;
    const id = await server.submit();
    await server.reaches(id, 'running');
    const container = await server.containerOf(id);
    await cancel(id);
    await expect.poll(async () => (await server.view(id)).runs[0]!.container!.status).toBe('stopped');
    await sql`update container set status_since = now() - interval '10 minutes' where id = ${container}`.execute(
      app.ctx.db,
    );
    await sql`update task set cancel_asked_at = now() - interval '11 minutes' where id = ${id}`.execute(app.ctx.db);
    expect(await server.reaches(id, 'canceled')).toMatchObject({ runs: [{ output: { phase: 'not saved' } }] });
    await nothingIsLeft();
  });

  it('waits for a server that is away', async () => {
    const id = await server.submit();
    await server.reaches(id, 'running');
    const container = await server.containerOf(id);
    const actual = server.daemon.shown(container)!;
    await server.daemon.close();
    await setServer('unresponsive');
    await cancel(id);
    await expect.poll(async () => (await server.view(id)).statusReason).toBe('Its server cannot be reached');
    expect((await server.view(id)).status).toBe('canceling');
    server.daemon = await connectTaskDaemon(app.url, server.key, { containers: [actual] });
    await setServer('online');
    await server.reaches(id, 'canceled');
    await expect.poll(() => server.daemon.shown(container)).toBeUndefined();
    await nothingIsLeft();
  });
});
