import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import type { Person } from '../testing/person.ts';
import { sealTaskEnv } from './env.ts';
import { aConnectedServer, type TaskServer } from './testing/taskServer.ts';

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
