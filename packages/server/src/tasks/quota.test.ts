import { api } from '@stagi/contract/api.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { lockOwners } from '../memberships/owners.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { waitForBlockedStatements } from '../testing/locks.ts';
import type { Person } from '../testing/person.ts';
import { aTaskPlace, type TaskPlace } from './testing/taskPlace.ts';

const REFUSAL = { status: 200, message: 'Your plan allows 50 task runs a day (UTC)' };

let app: TestApp;
let alice: Person;
let home: number;
let second: number;
let places: [TaskPlace, TaskPlace];
beforeAll(async () => {
  app = await startTestApp({}, { role: 'api,s3' });
  alice = await app.signUp('Alice');
  home = alice.workspaceId;
  const first = await aTaskPlace(app, alice);
  second = (await alice.client(api.clients.create, { name: 'Second' })).entity.clientId;
  alice.useWorkspace(second);
  places = [first, await aTaskPlace(app, alice)];
});
afterAll(() => app?.close());

const createIn = (workspace: 0 | 1) => {
  alice.useWorkspace([home, second][workspace]!);
  return places[workspace].create(alice);
};
const runs = (count: number, taskId: number, at: string) =>
  sql`insert into task_run (task_id, number, created_at)
    select ${taskId}, (select max(number) from task_run where task_id = ${taskId}) + n, ${sql.raw(at)}
    from generate_series(1, ${count}::int) n`.execute(app.ctx.db);

it('counts the runs of a day by person, over all their Free workspaces, retries included', async () => {
  const { id } = await createIn(0);
  await runs(30, id, `date_trunc('day', now(), 'UTC')`);
  // Yesterday's do not count.
  await runs(500, id, `date_trunc('day', now(), 'UTC') - interval '1 second'`);
  const { runsToday } = await alice.client(api.tasks.form, {});
  expect(runsToday).toEqual({ used: 31, limit: 50 });
  const other = await createIn(1);
  await runs(17, other.id, `now()`);
  expect((await alice.client(api.tasks.form, {})).runsToday).toEqual({ used: 49, limit: 50 });
});

it('gives the last run of a day to one of two at once in two workspaces', async () => {
  const holder = await app.ctx.db.startTransaction().execute();
  await lockOwners(holder, home);
  const creating = Promise.allSettled([createIn(0), createIn(1)]);
  await waitForBlockedStatements(app.ctx.db, 2);
  await holder.commit().execute();
  const answers = await creating;
  expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect(answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []))).toMatchObject([REFUSAL]);
  await expect(createIn(1)).rejects.toMatchObject(REFUSAL);
});

it('counts a paid plan by workspace', async () => {
  await app.ctx.db.updateTable('workspace').set({ plan: 'Individual' }).where('id', '=', second).execute();
  await createIn(1);
  const { runsToday } = await alice.client(api.tasks.form, {});
  expect(runsToday.limit).toBe(400);
  expect(runsToday.used).toBeLessThan(50);
});
