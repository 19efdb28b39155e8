import { api } from '@stagi/contract/api.ts';
import type { InputOf } from '@stagi/contract/call.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aMember } from '../app/testing/seededWorkspace.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import type { Person } from '../testing/person.ts';
import { openScheduleEnv } from './env.ts';
import { aTaskPlace, type TaskPlace } from './testing/taskPlace.ts';

let app: TestApp;
let alice: Person;
let place: TaskPlace;
beforeAll(async () => {
  app = await startTestApp({}, { role: 'api,s3' });
  alice = await app.signUp('Alice');
  place = await aTaskPlace(app, alice);
});
afterAll(() => app?.close());

type Input = InputOf<typeof api.tasks.createSchedule>;
const input = (over: Partial<Input> = {}): Input => ({
  ...place.input(),
  title: 'Every night',
  cron: '30 2 * * *',
  // It has no summer time: 02:30 comes every night.
  timeZone: 'Asia/Tokyo',
  ...over,
});
const create = async (over: Partial<Input> = {}) => (await alice.client(api.tasks.createSchedule, input(over))).entity;
const edit = async (by: Person, change: InputOf<typeof api.tasks.editSchedule>) =>
  (await by.client(api.tasks.editSchedule, change)).entity;
const row = (id: number) =>
  app.ctx.db.selectFrom('task_schedule').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

describe('a schedule', () => {
  it('knows its next time, in its time zone, and what it runs', async () => {
    const made = await create({ env: [{ name: 'A', value: 'secret' }], inputUrlPath: 'later/' });
    expect(made).toMatchObject({
      title: 'Every night',
      project: { id: place.project.id },
      instance: { id: place.instance },
      cron: '30 2 * * *',
      timeZone: 'Asia/Tokyo',
      isPaused: false,
      pausedReason: null,
      lastResult: null,
      lastTask: null,
      createdBy: 'Alice',
      task: { commit: 'main', command: 'python main.py', envNames: ['A'], storageId: place.storage },
    });
    const clock = new Intl.DateTimeFormat('en', { timeZone: 'Asia/Tokyo', timeStyle: 'short', hour12: false });
    expect(clock.format(new Date(made.nextAt!))).toBe('02:30');
    expect(new Date(made.nextAt!).getTime()).toBeGreaterThan(Date.now());
    expect((await alice.client(api.tasks.viewSchedule, { id: made.id })).entity).toEqual(made);
    const { entities, totalCount } = await alice.client(api.tasks.schedules, { projectRef: { id: place.project.id } });
    expect([entities[0]!.id, totalCount]).toEqual([made.id, 1]);
    const stored = await row(made.id);
    expect(JSON.stringify(stored)).not.toContain('secret');
    expect(openScheduleEnv(app.ctx, stored)).toEqual([{ name: 'A', value: 'secret' }]);
  });

  const FIVE = 'five fields: minute, hour, day of the month, month, day of the week';
  it.each([
    [{ cron: '' }, 'cron', 'Time is required'],
    [{ cron: '* * * *' }, 'cron', `4 instead of ${FIVE}`],
    [{ cron: '* * * * * *' }, 'cron', `6 instead of ${FIVE}`],
    [{ cron: '@daily' }, 'cron', '@daily is not supported: enter five fields, such as 0 0 * * *'],
    [{ cron: 'a b c d e' }, 'cron', 'Minute: “A” is no number, range, list or *'],
    [{ cron: '60 * * * *' }, 'cron', 'Minute: 60 is not between 0 and 59'],
    [{ cron: '* 24 * * *' }, 'cron', 'Hour: 24 is not between 0 and 23'],
    [{ cron: '*/0 * * * *' }, 'cron', 'Minute: in */0 the step must be between 1 and 60, after * or a range'],
    [{ cron: '2026-12-01T00:00:00 a b c d' }, 'cron', 'Minute: “2026-12-01T00:00:00” is no number, range, list or *'],
    [{ cron: '0 0 30 2 *' }, 'cron', 'This time never comes'],
    [{ timeZone: '' }, 'timeZone', 'Time zone is required'],
    [{ timeZone: 'Mars/Olympus' }, 'timeZone', 'This time zone is not known'],
    [{ timeZone: '+01:00' }, 'timeZone', 'This time zone is not known'],
    [{ title: ' ' }, 'title', 'Title is required'],
    [{ commit: 'nowhere' }, 'commit', 'This commit does not exist'],
    [{ cpus: 5 }, 'cpus', 'CPUs: at most 4 on this server'],
    [{ outputPath: '/' }, 'outputPath', 'The root directory of the container cannot be replaced'],
  ])('refuses %j at its field', async (over, field, message) => {
    await expect(create(over)).rejects.toMatchObject({ status: 400, body: { message, fieldsWithError: [field] } });
  });

  it('is edited, keeping variables without a value, and names fields below its task', async () => {
    const { id } = await create({ env: [{ name: 'A', value: 'kept' }] });
    const { projectRef, instanceRef, storageRef, ...fields } = place.input({ commit: 'topic/x', env: [{ name: 'A' }] });
    const task = { ...fields, projectRef, instanceRef, storageRef };
    const edited = await edit(alice, { id, title: 'Weekly', cron: '0 8 * * MON', timeZone: 'UTC', task });
    expect(edited).toMatchObject({
      title: 'Weekly',
      cron: '0 8 * * MON',
      task: { commit: 'topic/x', envNames: ['A'] },
    });
    expect(new Date(edited.nextAt!).getUTCDay()).toBe(1);
    expect(openScheduleEnv(app.ctx, await row(id))).toEqual([{ name: 'A', value: 'kept' }]);
    await expect(edit(alice, { id, task: { ...task, commit: 'nowhere' } })).rejects.toMatchObject({
      status: 400,
      body: { message: 'This commit does not exist', fieldsWithError: ['task.commit'] },
    });
    await expect(edit(alice, { id, task: { ...task, gpuCount: 9 } })).rejects.toMatchObject({
      body: { message: 'GPUs: at most 2 on this server', fieldsWithError: ['task.gpuCount'] },
    });
    await expect(edit(alice, { id, cron: 'x' })).rejects.toMatchObject({ body: { fieldsWithError: ['cron'] } });
    const other = await aTaskPlace(app, alice);
    await expect(edit(alice, { id, task: { ...task, projectRef: { id: other.project.id } } })).rejects.toMatchObject({
      body: {
        message: 'A schedule stays in its project: create another one there',
        fieldsWithError: ['task.projectRef'],
      },
    });
  });

  it('is paused and resumed by a person; whoever resumes it follows a maker who has left', async () => {
    const { id } = await create();
    expect(await edit(alice, { id, isPaused: true })).toMatchObject({
      isPaused: true,
      pausedReason: null,
      nextAt: null,
    });
    await app.ctx.db.updateTable('task_schedule').set({ paused_reason: 'why' }).where('id', '=', id).execute();
    const dora = await app.signUp('Dora');
    await aMember(app, dora, alice.workspaceId, 'Developer');
    dora.useWorkspace(alice.workspaceId);
    const resumed = await edit(dora, { id, isPaused: false });
    expect(resumed).toMatchObject({ isPaused: false, pausedReason: null, createdBy: 'Alice' });
    expect(new Date(resumed.nextAt!).getTime()).toBeGreaterThan(Date.now());
    await app.ctx.db
      .updateTable('task_schedule')
      .set({ created_by: null, paused_at: new Date() })
      .where('id', '=', id)
      .execute();
    expect(await edit(dora, { id, isPaused: false })).toMatchObject({ createdBy: 'Dora' });
  });

  it('is deleted, and at most 100 are in one project', async () => {
    const { id } = await create();
    await alice.client(api.tasks.deleteSchedule, { id });
    await expect(alice.client(api.tasks.viewSchedule, { id })).rejects.toMatchObject({ status: 404 });
    await expect(alice.client(api.tasks.deleteSchedule, { id })).rejects.toMatchObject({ status: 404 });
    const full = await aTaskPlace(app, alice);
    const schedule = { ...input(), ...full.input() };
    const { entity } = await alice.client(api.tasks.createSchedule, schedule);
    const { id: _, ...copy } = await row(entity.id);
    const { fields, ...columns } = copy;
    await app.ctx.db
      .insertInto('task_schedule')
      .values(Array.from({ length: 99 }, () => ({ ...columns, fields: JSON.stringify(fields) })))
      .execute();
    await expect(alice.client(api.tasks.createSchedule, schedule)).rejects.toMatchObject({
      status: 200,
      message: 'A project can have 100 schedules: delete one that is not used',
    });
  });
});
