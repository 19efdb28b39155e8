import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { aConnectedServer, type TaskServer } from './testing/taskServer.ts';

let app: TestApp;
let server: TaskServer;
beforeAll(async () => {
  app = await startTestApp();
  server = await aConnectedServer(app, await app.signUp());
});
afterAll(async () => {
  await server?.daemon.close();
  await app?.close();
});

it('places a task soon after it was submitted', async () => {
  server.daemon.behaviour.exits = 0;
  const times: number[] = [];
  const submitted: number[] = [];
  for (let n = 0; n < 40; n += 1) {
    const id = await server.submit({ cpus: 0.1 });
    submitted.push(id);
    await server.containerOf(id);
    const { rows } = await sql<{
      ms: number;
    }>`select (extract(epoch from c.created_at - t.created_at) * 1000)::float8 as ms
      from task t join task_run r on r.task_id = t.id join container c on c.id = r.container_id
      where t.id = ${id}`.execute(app.ctx.db);
    times.push(rows[0]!.ms);
  }
  for (const id of submitted) await server.reaches(id, 'done');
  const sorted = times.toSorted((a, b) => a - b);
  const p95 = sorted[Math.ceil(sorted.length * 0.95) - 1]!;
  console.log(
    `submitted to placed: n = ${times.length}, median ${sorted[20]!.toFixed(0)} ms, p95 ${p95.toFixed(0)} ms`,
  );
  expect(p95).toBeLessThan(1_000);
});
