import { api } from '@stagi/contract/api.ts';
import type { InputOf } from '@stagi/contract/call.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aMember } from '../app/testing/seededWorkspace.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import type { Person } from '../testing/person.ts';
import { lookAfterSchedules } from './schedulesWorker.ts';
import { aTaskPlace, type TaskPlace } from './testing/taskPlace.ts';

let app: TestApp;
let alice: Person;
let place: TaskPlace;
// Without workers: the passes are made here, and no task goes on by itself.
beforeAll(async () => {
  app = await startTestApp({}, { role: 'api,s3' });
  alice = await app.signUp('Alice');
  place = await aTaskPlace(app, alice);
});
afterAll(() => app?.close());

const view = async (id: number) => (await alice.client(api.tasks.viewSchedule, { id })).entity;
const create = async (over: Partial<InputOf<typeof api.tasks.createSchedule>> = {}, by = alice, at = place) =>
  (
    await by.client(api.tasks.createSchedule, {
      ...at.input(),
      title: 'Every minute',
      cron: '* * * * *',
      timeZone: 'UTC',
      ...over,
    })
  ).entity.id;
/** As if its time had come some hours ago. */
const isDue = (id: number, hours = 0) =>
  sql`update task_schedule set next_at = now() - make_interval(hours => ${hours}, secs => 1) where id = ${id}`.execute(
    app.ctx.db,
  );
const tasksOf = async (id: number) =>
  (
    await sql<{ id: number; created_by: number; commit_ref: string; title: string }>`select id, created_by, commit_ref,
    title from task where schedule_id = ${id} order by id`.execute(app.ctx.db)
  ).rows;
const end = (taskId: number) => alice.client(api.tasks.cancel, { id: taskId });

describe('a schedule whose time has come', () => {
  it('starts a task of its maker, and knows the next time', async () => {
    const id = await create({ env: [{ name: 'A', value: 'secret' }], cpus: 2 });
    await isDue(id);
    await lookAfterSchedules(app.ctx);
    const [task, ...more] = await tasksOf(id);
    expect(more).toEqual([]);
    expect(task).toMatchObject({ created_by: alice.userId, commit_ref: 'main', title: 'Every minute' });
    const schedule = await view(id);
    expect(schedule).toMatchObject({
      lastResult: 'started',
      lastReason: null,
      lastTask: { id: task!.id, status: 'new' },
    });
    const wait = Date.parse(schedule.nextAt!) - Date.now();
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(60_000);
    expect((await alice.client(api.tasks.view, { id: task!.id })).entity).toMatchObject({
      cpus: 2,
      envNames: ['A'],
      schedule: { id, title: 'Every minute' },
    });
  });

  it('starts once for all times that were missed', async () => {
    const id = await create();
    await isDue(id, 48);
    for (let n = 0; n < 3; n += 1) await lookAfterSchedules(app.ctx);
    expect(await tasksOf(id)).toHaveLength(1);
    expect(Date.parse((await view(id)).nextAt!)).toBeGreaterThan(Date.now());
  });

  it('starts once, however many workers look', async () => {
    const ids: number[] = [];
    for (let n = 0; n < 5; n += 1) ids.push(await create());
    for (const id of ids) await isDue(id);
    await Promise.all(Array.from({ length: 4 }, () => lookAfterSchedules(app.ctx)));
    const counts = await Promise.all(ids.map(async (id) => (await tasksOf(id)).length));
    console.log(`4 workers: n = ${ids.length} schedules, tasks started ${counts.join(', ')}`);
    expect(counts).toEqual([1, 1, 1, 1, 1]);
  });

  it('skips while its last task has not ended, and goes on afterwards', async () => {
    const id = await create();
    await isDue(id);
    await lookAfterSchedules(app.ctx);
    await isDue(id);
    await lookAfterSchedules(app.ctx);
    expect(await view(id)).toMatchObject({ lastResult: 'skipped', lastReason: 'Its last task has not ended yet' });
    const [first] = await tasksOf(id);
    expect((await view(id)).lastTask).toMatchObject({ id: first!.id });
    await end(first!.id);
    await isDue(id);
    await lookAfterSchedules(app.ctx);
    expect(await tasksOf(id)).toHaveLength(2);
  });

  it('says why its task was refused', async () => {
    const id = await create({ inputUrlPath: 'later/' });
    await isDue(id);
    await lookAfterSchedules(app.ctx);
    expect(await view(id)).toMatchObject({ lastResult: 'failed', lastReason: 'Nothing is stored at this path' });
    const gone = await create({ commit: 'topic/x' });
    await sql`update task_schedule set fields = jsonb_set(fields, '{commit}', '"no/such"') where id = ${gone}`.execute(
      app.ctx.db,
    );
    await isDue(gone);
    await lookAfterSchedules(app.ctx);
    expect(await view(gone)).toMatchObject({ lastResult: 'failed', lastReason: 'This commit does not exist' });
    expect([await tasksOf(id), await tasksOf(gone)]).toEqual([[], []]);
  });

  it('says that the plan allows no more runs today', async () => {
    const bob = await app.signUp('Bob');
    const at = await aTaskPlace(app, bob);
    const { id: taskId } = await at.create(bob);
    await sql`insert into task_run (task_id, number) select ${taskId}, n from generate_series(2, 50) n`.execute(
      app.ctx.db,
    );
    const id = await create({}, bob, at);
    await isDue(id);
    await lookAfterSchedules(app.ctx);
    expect((await bob.client(api.tasks.viewSchedule, { id })).entity).toMatchObject({
      lastResult: 'failed',
      lastReason: 'Your plan allows 50 task runs a day (UTC)',
    });
  });

  it('skips without a balance', async () => {
    const bob = await app.signUp('Bob');
    const at = await aTaskPlace(app, bob);
    const id = await create({}, bob, at);
    await sql`update workspace set exhausted_at = now() where id = ${bob.workspaceId}`.execute(app.ctx.db);
    await isDue(id);
    await lookAfterSchedules(app.ctx);
    expect((await bob.client(api.tasks.viewSchedule, { id })).entity).toMatchObject({
      lastResult: 'skipped',
      lastReason: 'Zero balance',
      isPaused: false,
    });
  });
});

describe('a schedule is paused, with the reason,', () => {
  const setRole = (person: Person, role: string | null) =>
    role === null
      ? sql`delete from membership where user_id = ${person.userId} and workspace_id = ${alice.workspaceId}`.execute(
          app.ctx.db,
        )
      : sql`update membership set role = ${role}
          where user_id = ${person.userId} and workspace_id = ${alice.workspaceId}`.execute(app.ctx.db);

  it.each([
    ['loses the permission', 'Guest'],
    ['leaves', null],
  ])('when its maker %s', async (_, role) => {
    const member = await app.signUp();
    await aMember(app, member, alice.workspaceId, 'Developer');
    member.useWorkspace(alice.workspaceId);
    // Its time does not come by itself.
    const id = await create({ cron: '0 0 1 1 *' }, member);
    await lookAfterSchedules(app.ctx);
    expect((await view(id)).isPaused).toBe(false);
    await setRole(member, role);
    await isDue(id);
    await lookAfterSchedules(app.ctx);
    expect(await view(id)).toMatchObject({
      isPaused: true,
      pausedReason: 'Whoever made it may not run tasks any more',
      nextAt: null,
      lastResult: null,
    });
    expect(await tasksOf(id)).toEqual([]);
  });

  it('when its project is archived', async () => {
    const at = await aTaskPlace(app, alice);
    const id = await create({}, alice, at);
    // No worker makes its repository here.
    await sql`update project set status = 'active' where id = ${at.project.id}`.execute(app.ctx.db);
    await alice.client(api.projects.archive, { id: at.project.id });
    await lookAfterSchedules(app.ctx);
    expect(await view(id)).toMatchObject({ isPaused: true, pausedReason: 'Its project was archived' });
  });

  it('when its workspace is disabled', async () => {
    const bob = await app.signUp('Bob');
    const at = await aTaskPlace(app, bob);
    const id = await create({}, bob, at);
    await sql`update workspace set disabled_at = now() where id = ${bob.workspaceId}`.execute(app.ctx.db);
    await lookAfterSchedules(app.ctx);
    const row = await app.ctx.db
      .selectFrom('task_schedule')
      .select(['paused_at', 'paused_reason'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    expect(row).toMatchObject({
      paused_at: expect.any(Date),
      paused_reason: 'The workspace was disabled by an operator',
    });
  });
});
