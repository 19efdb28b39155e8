import { api } from '@stagi/contract/api.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { aConnectedServer, leftBehind, NOTHING_LEFT } from './testing/taskServer.ts';
import { startTaskWorker } from './worker.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({}, { role: 'api,s3' });
});
afterAll(() => app?.close());

describe('several workers on one database', () => {
  it('give each run one place, and none too much', { timeout: 120_000 }, async () => {
    const alice = await app.signUp('Alice');
    const server = await aConnectedServer(app, alice);
    server.daemon.behaviour.exits = 0;
    const workers = [1, 2, 3].map(() => startTaskWorker(app.ctx));
    const cpus = [0.5, 1, 1.5, 2, 4];
    const submitted = await Promise.all(
      Array.from({ length: 30 }, (_, n) => server.submit({ cpus: cpus[n % cpus.length]!, priority: n % 3 })),
    );
    const canceled = submitted.filter((_, n) => n % 10 === 9);
    await Promise.all(
      canceled.map((id) => alice.client(api.tasks.cancel, { id }).catch((error: { status: number }) => error)),
    );
    let most = 0;
    await expect
      .poll(
        async () => {
          const { rows } = await sql<{ used: number; open: number }>`select
            (select coalesce(sum(cpus), 0)::float8 from container where instance_id = ${server.id}
              and deleted_at is null and finished_at is null and status <> 'creation failed') as used,
            (select count(*)::int from task where instance_id = ${server.id}
              and status not in ('done', 'failed', 'canceled')) as open`.execute(app.ctx.db);
          most = Math.max(most, rows[0]!.used);
          return rows[0]!.open;
        },
        { timeout: 90_000, interval: 10 },
      )
      .toBe(0);
    await Promise.all(workers.map((worker) => worker.stop()));
    const { rows } = await sql<{ containers: number; statuses: string[] }>`select
      (select count(*)::int from container where instance_id = ${server.id}) as containers,
      (select array_agg(status) from task where instance_id = ${server.id}) as statuses`.execute(app.ctx.db);
    const done = rows[0]!.statuses.filter((status) => status === 'done').length;
    console.log(`3 workers: n = ${submitted.length} tasks, ${done} done, most CPUs given out at once ${most} of 4`);
    expect(most).toBeLessThanOrEqual(4);
    expect(done).toBeGreaterThanOrEqual(submitted.length - canceled.length);
    expect(rows[0]!.containers).toBeLessThanOrEqual(submitted.length);
    expect([...server.daemon.starts.values()].every((starts) => starts === 1)).toBe(true);
    expect(await leftBehind(app, alice.workspaceId)).toEqual(NOTHING_LEFT);
    await server.daemon.close();
  });
});
