import { api } from '@stagi/contract/api.ts';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { aMember } from '../app/testing/seededWorkspace.ts';
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
/** Brings the end of a pause before a retry forward. */
const skipPause = (taskId: number) =>
  sql`update task set not_before = now() where id = ${taskId} and status = 'scheduled'`.execute(app.ctx.db);
const setServer = (status: string) =>
  app.ctx.db.transaction().execute((trx) => transitionInstance(app.ctx, trx, server.id, status, {}));

describe('a task', () => {
  it('goes on when whoever made it leaves the workspace', async () => {
    const member = await app.signUp();
    await aMember(app, member, alice.workspaceId, 'Developer');
    server.daemon.behaviour.saves = false;
    const [running, waiting] = [
      await server.submit({ created_by: member.userId, cpus: 4 }),
      await server.submit({ created_by: member.userId, cpus: 4 }),
    ];
    await server.reaches(running, 'running');
    await alice.client(api.clients.removeMember, { userId: member.userId });
    const container = await server.containerOf(running);
    server.daemon.end(container, 0);
    await expect.poll(async () => (await server.view(running)).statusReason).toBe('Its output is being stored');
    server.daemon.behaviour.saves = true;
    server.daemon.report(container, { phase: 'saved' });
    await server.reaches(running, 'done');
    await server.reaches(waiting, 'running');
    server.daemon.end(await server.containerOf(waiting), 0);
    await server.reaches(waiting, 'done');
    await nothingIsLeft();
  });

  it('gets a place, runs, and is done when its output is stored', async () => {
    server.daemon.behaviour.prepares = false;
    server.daemon.behaviour.saves = false;
    const id = await server.submit({ env_names: [], time_limit_minutes: 2 });
    const container = await server.containerOf(id);
    await expect.poll(() => server.daemon.shown(container)?.state).toBe('created');
    expect(await server.view(id)).toMatchObject({
      status: 'in queue',
      statusReason: 'Preparing on its server',
      runs: [{ number: 1, container: { id: container, slug: `task-${id}-1` } }],
    });
    const [asked] = server.daemon.asked.get(container)!;
    expect(asked).toMatchObject({
      state: 'running',
      task: { codePath: '/workspace', inputPath: '/input', outputPath: '/output', timeLimitSeconds: 120 },
      spec: {
        command: ['true'],
        restartPolicy: 'no',
        env: [
          { name: 'STAGI_TASK_ID', value: String(id) },
          { name: 'STAGI_RUN', value: '1' },
          { name: 'STAGI_COMMIT', value: 'a'.repeat(40) },
          { name: 'STAGI_INPUT_PATH', value: '/input' },
          { name: 'STAGI_OUTPUT_PATH', value: '/output' },
        ],
      },
    });
    server.daemon.start(container);
    await server.reaches(id, 'running');
    server.daemon.end(container, 0);
    await expect.poll(async () => (await server.view(id)).statusReason).toBe('Its output is being stored');
    server.daemon.report(container, { phase: 'saved', files: 3, bytes: 12, skipped: 1 });
    expect(await server.reaches(id, 'done')).toMatchObject({
      exitCode: 0,
      statusReason: null,
      runs: [{ exitCode: 0, output: { phase: 'saved', files: 3, bytes: 12, skipped: 1, error: null } }],
      timeline: [{ status: 'in queue' }, { status: 'running' }, { status: 'done' }],
    });
    await expect.poll(() => server.daemon.shown(container)).toBeUndefined();
    expect(server.daemon.starts.get(container)).toBe(1);
    await nothingIsLeft();
  });

  it('costs the price of its server for the time that it ran', async () => {
    const id = await server.submit();
    await server.reaches(id, 'running');
    const container = await server.containerOf(id);
    const actual = server.daemon.shown(container)!;
    actual.startedAt = new Date(Date.now() - 1_800_000).toISOString();
    server.daemon.report(container, {});
    await expect
      .poll(async () =>
        (
          await sql<{ at: Date }>`select started_at as at from container where id = ${container}`.execute(app.ctx.db)
        ).rows[0]!.at.toISOString(),
      )
      .toBe(actual.startedAt);
    await sql`update task_run set started_at = ${actual.startedAt}::timestamptz where task_id = ${id}`.execute(
      app.ctx.db,
    );
    server.daemon.end(container, 0);
    const { cost } = await server.reaches(id, 'done');
    // 0.07 STAGI an hour.
    expect(Number(cost.STAGI.decimalValue)).toBeCloseTo(0.035, 3);
  });

  it.each([
    ['by its exit code', 3, {}, 'It ended with exit code 3'],
    ['without memory', 137, { oomKilled: true }, 'It ran out of memory'],
    ['at its time limit', 137, { task: { timedOut: true } }, 'It was stopped at its time limit of 5 minutes'],
    [
      'without its output',
      0,
      { task: { phase: 'not saved', error: 'The storage is gone' } },
      'Its output could not be stored: The storage is gone',
    ],
    ['with a restart of its server', 137, { task: { interrupted: true } }, 'Its server restarted'],
  ] as const)('fails %s', async (_, code, how, reason) => {
    const id = await server.submit({ time_limit_minutes: 5 });
    await server.reaches(id, 'running');
    server.daemon.end(await server.containerOf(id), code, how);
    expect(await server.reaches(id, 'failed')).toMatchObject({
      statusReason: reason,
      exitCode: code,
      runs: [{ reason }],
    });
    await nothingIsLeft();
  });

  it('is tried again after what was not its own end, and counts its runs', async () => {
    const id = await server.submit({ retries: 2 });
    await server.reaches(id, 'running');
    const first = await server.containerOf(id);
    server.daemon.end(first, 137, { task: { interrupted: true } });
    expect(await server.reaches(id, 'scheduled')).toMatchObject({
      statusReason: 'It is tried again: Its server restarted',
      statusDeadline: expect.any(String),
      runCount: 2,
      runs: [
        { number: 2, container: null },
        { number: 1, exitCode: 137, reason: 'Its server restarted' },
      ],
    });
    await skipPause(id);
    await server.reaches(id, 'running');
    const second = await server.containerOf(id);
    expect(second).not.toBe(first);
    server.daemon.lose(second);
    await server.reaches(id, 'scheduled');
    await skipPause(id);
    await server.reaches(id, 'running');
    server.daemon.end(await server.containerOf(id), 0);
    const { runs } = await server.reaches(id, 'done');
    expect(runs.map(({ number, reason }) => [number, reason])).toEqual([
      [3, null],
      [2, 'The container is no longer on the server'],
      [1, 'Its server restarted'],
    ]);
    await nothingIsLeft();
  });

  it('is not tried again when the day has no run left', async () => {
    const id = await server.submit({ retries: 1 });
    await server.reaches(id, 'running');
    await sql`insert into task_run (task_id, number, ended_at)
      select ${id}, n, now() from generate_series(1000, 1048) n`.execute(app.ctx.db);
    server.daemon.end(await server.containerOf(id), 137, { task: { interrupted: true } });
    expect(await server.reaches(id, 'failed')).toMatchObject({
      statusReason: 'Its server restarted. It is not tried again: the plan allows no more runs today (UTC)',
    });
  });

  it('fails when it can never be created', async () => {
    server.daemon.behaviour.prepares = false;
    const id = await server.submit({ retries: 5 });
    const containerId = await server.containerOf(id);
    server.daemon.link.send({
      type: 'failed',
      containerId,
      gen: 1,
      phase: 'pulling',
      message: 'No such image',
      permanent: true,
    });
    expect(await server.reaches(id, 'failed')).toMatchObject({ statusReason: 'No such image', startedAt: null });
    await nothingIsLeft();
  });

  it('runs on while its server is away, and fails after a day', async () => {
    const id = await server.submit({ retries: 5 });
    await server.reaches(id, 'running');
    const container = await server.containerOf(id);
    await setServer('unresponsive');
    await expect.poll(async () => (await server.view(id)).statusReason).toBe('Its server cannot be reached');
    const { status, statusDeadline, statusSince } = await server.view(id);
    expect(status).toBe('running');
    expect(Date.parse(statusDeadline!) - Date.parse(statusSince)).toBeGreaterThan(23 * 3_600_000);
    await sql`update container set status_since = now() - interval '24 hours' where id = ${container}`.execute(
      app.ctx.db,
    );
    expect(await server.reaches(id, 'failed')).toMatchObject({ statusReason: 'Nobody has seen it for 24 hours' });
    await setServer('online');
    // It is stopped when it reappears.
    await expect.poll(() => server.daemon.shown(container)).toBeUndefined();
    await nothingIsLeft();
  });

  it('goes on when its daemon comes back, and ends as the daemon tells', async () => {
    const id = await server.submit();
    await server.reaches(id, 'running');
    const container = await server.containerOf(id);
    const actual = server.daemon.shown(container)!;
    await server.daemon.close();
    server.daemon = await connectTaskDaemon(app.url, server.key, {
      containers: [
        {
          ...actual,
          state: 'exited',
          exitCode: 0,
          finishedAt: new Date().toISOString(),
          task: { ...actual.task!, phase: 'saved' },
        },
      ],
    });
    await server.reaches(id, 'done');
    expect(server.daemon.starts.size).toBe(0);
  });

  it('waits for an agent that runs tasks', async () => {
    await server.daemon.close();
    server.daemon = await connectTaskDaemon(app.url, server.key, { features: [] });
    const id = await server.submit();
    expect(await server.reaches(id, 'scheduled')).toMatchObject({
      statusReason: 'The agent on its server is too old to run tasks',
    });
    await server.daemon.close();
    server.daemon = await connectTaskDaemon(app.url, server.key);
    await server.reaches(id, 'running');
  });

  it('waits for its server, and fails or is tried again when somebody stops it', async () => {
    const [fails, again] = [await server.submit(), await server.submit({ retries: 1 })];
    await server.reaches(fails, 'running');
    await server.reaches(again, 'running');
    await setServer('powering off');
    expect(await server.reaches(fails, 'failed')).toMatchObject({ statusReason: 'Its server was stopped' });
    await server.reaches(again, 'scheduled');
    await skipPause(again);
    const waits = await server.submit();
    for (const id of [again, waits]) {
      await expect.poll(async () => (await server.view(id)).statusReason).toBe('Its server is not online');
      expect((await server.view(id)).status).toBe('scheduled');
    }
    for (const status of ['stopped', 'powering on', 'online']) await setServer(status);
    for (const id of [again, waits]) await server.reaches(id, 'running');
  });
});
