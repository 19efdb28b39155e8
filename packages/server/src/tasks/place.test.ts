import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import type { Person } from '../testing/person.ts';
import { sealTaskEnv } from './env.ts';
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
  alice = await app.signUp('Alice');
  server = await aConnectedServer(app, alice);
});
afterEach(() => server.daemon.close());

describe('a task whose turn has come', () => {
  it('runs with its variables and those of the platform', async () => {
    const env = [{ name: 'SECRET', value: 'x' }];
    const env_sealed = sealTaskEnv(app.ctx, { project_id: server.projectId, ordinal: 1 }, env);
    const id = await server.submit({ env_sealed, env_names: ['SECRET'] });
    await server.reaches(id, 'running');
    const [asked] = server.daemon.asked.get(await server.containerOf(id))!;
    expect(asked!.spec.env.map(({ name }) => name)).toEqual([
      'SECRET',
      'STAGI_TASK_ID',
      'STAGI_RUN',
      'STAGI_COMMIT',
      'STAGI_INPUT_PATH',
      'STAGI_OUTPUT_PATH',
    ]);
    expect(asked!.spec.env[0]).toEqual(env[0]);
  });

  it('fails with the words of the policy when its server forbids it', async () => {
    const id = await server.submit({ image: 'NOT AN IMAGE' });
    expect(await server.reaches(id, 'failed')).toMatchObject({
      statusReason: 'Enter an image like name:tag or registry/name:tag',
      startedAt: null,
      runs: [{ container: null }],
    });
  });

  it('fails when its environment can never be sent, and waits while others take the room', async () => {
    const large = (kilobytes: number, ordinal: number) => ({
      env_sealed: sealTaskEnv(
        app.ctx,
        { project_id: server.projectId, ordinal },
        Array.from({ length: kilobytes / 32 }, (_, n) => ({ name: `V${n}`, value: 'x'.repeat(32_000) })),
      ),
    });
    const never = await server.submit(large(800, 1));
    expect(await server.reaches(never, 'failed')).toMatchObject({ statusReason: 'Its environment is too large' });
    const first = await server.submit(large(416, 2));
    await server.reaches(first, 'running');
    const second = await server.submit(large(416, 3));
    await expect.poll(async () => (await server.view(second)).statusReason).toBe('Waiting for room on its server');
    server.daemon.end(await server.containerOf(first), 0);
    await server.reaches(second, 'running');
  });
});

describe('the queue of a server', () => {
  it('starts 20 tasks on 4 CPUs by priority, then in order, each once', async () => {
    const held = await server.submit({ cpus: 4 });
    await server.reaches(held, 'running');
    const ids: { id: number; priority: number }[] = [];
    for (let n = 0; n < 20; n += 1) {
      const priority = n % 3;
      ids.push({ id: await server.submit({ cpus: 2, priority }), priority });
    }
    for (const { id } of ids) await server.reaches(id, 'in queue');
    expect((await server.view(ids[2]!.id)).statusReason).toBe('Waiting for room on its server');
    server.daemon.behaviour.exits = 0;
    server.daemon.end(await server.containerOf(held), 0);
    for (const { id } of ids) await server.reaches(id, 'done');
    const { rows } = await sql<{ id: number }>`select t.id from task t join task_run r on r.task_id = t.id
      join container c on c.id = r.container_id where t.instance_id = ${server.id} and t.id <> ${held} order by c.id`.execute(
      app.ctx.db,
    );
    expect(rows.map(({ id }) => id)).toEqual(
      ids.toSorted((a, b) => b.priority - a.priority || a.id - b.id).map(({ id }) => id),
    );
    expect([...server.daemon.starts.values()]).toEqual(Array(21).fill(1));
    await expectNothingLeft(app, alice.workspaceId);
  });

  it('gives each GPU to one task', async () => {
    await server.daemon.close();
    const gpus = [0, 1, 2].map((index) => ({ index, name: 'GPU', memoryMb: 1024 }));
    server.daemon = await connectTaskDaemon(app.url, server.key, { facts: { gpus } });
    const [first, second, third] = [
      await server.submit({ cpus: 0.1, gpu_count: 2 }),
      await server.submit({ cpus: 0.1, gpu_count: 2 }),
      await server.submit({ cpus: 0.1, gpu_count: 1 }),
    ];
    expect((await server.reaches(first, 'running')).runs[0]!.gpuIds).toEqual([0, 1]);
    expect((await server.reaches(third, 'running')).runs[0]!.gpuIds).toEqual([2]);
    await server.reaches(second, 'in queue');
    server.daemon.end(await server.containerOf(first), 0);
    expect((await server.reaches(second, 'running')).runs[0]!.gpuIds).toEqual([0, 1]);
  });

  it('lets nothing pass a task that was overtaken for ten minutes', async () => {
    const holds = await server.submit({ cpus: 1 });
    await server.reaches(holds, 'running');
    const large = await server.submit({ cpus: 4 });
    await server.reaches(large, 'in queue');
    const small = await server.submit({ cpus: 1 });
    await server.reaches(small, 'running');
    await sql`update task set overtaken_at = overtaken_at - interval '10 minutes' where id = ${large}`.execute(
      app.ctx.db,
    );
    const late = await server.submit({ cpus: 1 });
    await server.reaches(late, 'in queue');
    server.daemon.end(await server.containerOf(holds), 0);
    server.daemon.end(await server.containerOf(small), 0);
    await server.reaches(large, 'running');
    expect((await server.view(late)).statusReason).toBe('Waiting for room on its server');
  });

  it('fails a task that its server has become too small for', async () => {
    const id = await server.submit({ cpus: 8 });
    expect(await server.reaches(id, 'failed')).toMatchObject({ statusReason: 'CPUs: its server has only 4' });
  });
});
