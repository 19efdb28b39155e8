import { randomUUID } from 'node:crypto';
import { api } from '@stagi/contract/api.ts';
import type { InputOf } from '@stagi/contract/call.ts';
import type { Permission } from '@stagi/contract/permissions.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aProjectWith } from '../projectCode/testing/aRepository.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { anApiToken, aProject, aRentedInstance, aSelfHostedServer, aStorage } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';
import { aTaskPlace, aTaskServer, attach, type TaskPlace } from './testing/taskPlace.ts';

let app: TestApp;
let alice: Person;
let bob: Person;
let place: TaskPlace;
beforeAll(async () => {
  app = await startTestApp({}, { role: 'api,s3' });
  alice = await app.signUp('Alice');
  bob = await app.signUp('Bob');
  place = await aTaskPlace(app, alice);
  // So that no test meets the limit of the Free plan.
  await app.ctx.db.updateTable('workspace').set({ plan: 'Enterprise' }).where('id', '=', alice.workspaceId).execute();
});
afterAll(() => app?.close());

type Over = Partial<InputOf<typeof api.tasks.create>>;
const create = (over: Over = {}) => place.create(alice, over);
const refusal = (over: object, message: string, ...fields: string[]) =>
  expect(
    alice.client(api.tasks.create, { ...place.input(), ...over } as InputOf<typeof api.tasks.create>),
  ).rejects.toMatchObject({
    status: 400,
    body: { message, fieldsWithError: fields },
  });

describe('creating a task', () => {
  it('answers it in the queue of its server, with the commit that the branch names now', async () => {
    const before = (await alice.client(api.projects.view, { id: place.project.id })).entity.taskCount;
    const task = await create({
      env: [{ name: 'LR', value: '0.1' }],
      cpus: 2.5,
      gpuCount: 1,
      timeLimitMinutes: 60,
      retries: 2,
      retryOnFailure: true,
      priority: 'high',
    });
    expect(task).toMatchObject({
      ordinal: before + 1,
      slug: `task-${task.id}`,
      title: 'Train longer',
      status: 'new',
      project: { id: place.project.id },
      instance: { id: place.instance, kind: 'rented', status: 'online' },
      storage: { id: place.storage, status: 'rented' },
      inputUrlPath: 'data/',
      codePath: '/workspace',
      commit: { sha: place.project.shas[1], message: 'Train longer', ref: 'main' },
      image: 'python:3.13',
      cpus: 2.5,
      gpuCount: 1,
      envNames: ['LR'],
      timeLimitMinutes: 60,
      retries: 2,
      retryOnFailure: true,
      priority: 'high',
      createdBy: 'Alice',
      exitCode: null,
      cost: { STAGI: { decimalValue: '0.00' } },
      pricePerHour: { STAGI: { decimalValue: '0.07' } },
      position: 1,
      runCount: 1,
      favorite: false,
      schedule: null,
      runs: [{ number: 1, container: null, exitCode: null, output: { phase: 'none', files: 0 } }],
      timeline: [{ status: 'new', run: 1, by: 'Alice' }],
    });
    expect(task.outputUri).toMatch(new RegExp(`^s3://[a-z0-9-]+/tasks/${task.id}/output/$`));
    expect((await alice.client(api.tasks.view, { slug: task.slug })).entity.id).toBe(task.id);
    expect((await alice.client(api.projects.view, { id: place.project.id })).entity.taskCount).toBe(before + 1);
    const stored = await app.ctx.db
      .selectFrom('task')
      .select('env_sealed')
      .where('id', '=', task.id)
      .executeTakeFirstOrThrow();
    expect(stored.env_sealed).not.toContain('0.1');
    await alice.client(api.tasks.cancel, { id: task.id });
  });

  it('takes a branch, a tag, and hashes, also shortened ones', async () => {
    const [first, second, third] = place.project.shas as [string, string, string];
    for (const [commit, sha, ref] of [
      ['topic/x', third, 'topic/x'],
      ['v1.0', second, 'v1.0'],
      [first, first, null],
      [first.toUpperCase(), first, null],
      [third.slice(0, 10), third, null],
    ] as const) {
      const task = await create({ commit });
      expect.soft(task.commit, commit).toMatchObject({ sha, ref });
    }
  });

  it('refuses a commit that is not there, as also one that no branch contains', async () => {
    for (const commit of [
      'nowhere',
      'a'.repeat(40),
      'abc',
      '--upload-pack=id',
      'main~1',
      'HEAD@{0}',
      place.project.shas[0]!.slice(0, 3),
    ])
      await refusal({ commit }, 'This commit does not exist', 'commit');
    const empty = await aProject(app.ctx, alice, 'creating');
    await refusal({ projectRef: { id: empty } }, 'This commit does not exist', 'commit');
  });

  it('has a title that can be read, whatever its commit is called', async () => {
    const titles = {
      '\u202eevil\u0007.sh': 'evil.sh',
      '\u3164\u3164': 'python main.py',
      '\u200b\ufe0f': 'python main.py',
      'Fix\u2028it': 'Fix it',
      'Обучить 👨‍👩‍👧': 'Обучить 👨‍👩‍👧',
      [`x${'y'.repeat(300)}`]: `x${'y'.repeat(98)}…`,
    };
    const commits = Object.keys(titles).map((message) => ({ message, files: { 'main.py': message } }));
    const project = await aProjectWith(app, alice, 'hostile-messages', commits);
    await attach(alice, project.id, place.instance);
    const made = [];
    for (const commit of project.shas)
      made.push((await create({ projectRef: { id: project.id }, commit, title: '' })).title);
    expect(made).toEqual(Object.values(titles));
  });

  it('names itself after its commit, or as it is told', async () => {
    expect((await create({ title: ' Mine ', slug: 'my-task' })).title).toBe('Mine');
    expect((await alice.client(api.tasks.view, { slug: 'my-task' })).entity.title).toBe('Mine');
    await refusal({ slug: 'my-task' }, 'This Unique ID is taken', 'slug');
    await refusal({ slug: 'task-7' }, 'A Unique ID like "task-1" is reserved', 'slug');
  });

  const REQUIRED: [string, unknown, string][] = [
    ['projectRef', undefined, 'Project is required'],
    ['instanceRef', undefined, 'Server is required'],
    ['storageRef', undefined, 'Storage is required'],
    ['inputUrlPath', '', 'Input URL path is required'],
    ['inputUrlPath', undefined, 'Input URL path is required'],
    ['inputPath', ' ', 'Input path is required'],
    ['outputPath', '', 'Output path is required'],
    ['command', '', 'Launch command is required'],
    ['command', undefined, 'Launch command is required'],
    ['commit', '', 'Commit is required'],
    ['image', '', 'Image is required'],
    ['image', 'Not An Image', 'Enter an image like name:tag or registry/name:tag'],
    ['cpus', undefined, 'CPU is required'],
    ['cpus', 0, 'CPU must be at least 0.1'],
    ['cpus', 0.15, 'CPU must be a multiple of 0.1'],
    ['gpuCount', undefined, 'GPU is required'],
    ['gpuCount', 0.5, 'GPU must be a whole number'],
    ['inputPath', 'input', 'Volume path must start with /'],
    ['inputPath', '/', 'The root directory of the container cannot be replaced'],
    ['inputPath', '/a/../b', 'Volume path must not contain ".."'],
    ['inputPath', '/proc/x', 'This directory of the container cannot be replaced'],
    ['outputPath', '/.', 'The root directory of the container cannot be replaced'],
    ['outputPath', '/workspace', 'Output path must not hold the code or the input'],
    ['codePath', '/', 'The root directory cannot be used for cloning'],
    ['codePath', '//', 'The root directory cannot be used for cloning'],
    ['command', 'a\0b', 'The command must not contain a NUL'],
    ['timeLimitMinutes', 0, 'Time limit must be at least 1 minute'],
    ['timeLimitMinutes', 43_201, 'Time limit must be at most 43,200 minutes'],
    ['retries', 6, 'Retries must be between 0 and 5'],
    ['priority', 'urgent', 'Please choose an option'],
    ['title', 'x'.repeat(101), 'Title is too long: at most 100 characters'],
    ['inputUrlPath', 'nothing/', 'Nothing is stored at this path'],
    ['inputUrlPath', 'data', 'Nothing is stored at this path'],
    ['inputUrlPath', 'two.txt', 'Nothing is stored at this path'],
    ['cpus', 4.1, 'CPUs: at most 4 on this server'],
    ['gpuCount', 3, 'GPUs: at most 2 on this server'],
  ];
  it.each(REQUIRED)('refuses %s %j at its field', async (field, value, message) => {
    await refusal({ [field]: value }, message, field);
  });

  it('refuses variables that the platform sets, and one that is listed twice', async () => {
    await refusal(
      { env: [{ name: 'STAGI_RUN', value: '1' }] },
      'Names that begin with STAGI_ are set by the platform',
      'env.0.name',
    );
    await refusal(
      {
        env: [
          { name: 'A', value: '1' },
          { name: 'A', value: '2' },
        ],
      },
      'This variable is listed twice',
      'env.1.name',
    );
    await refusal({ env: [{ name: 'A' }] }, 'Value is required', 'env.0.value');
    await refusal({ memoryGb: 4 }, 'There is no field memoryGb');
  });

  it('takes a single object as input', async () => {
    expect((await create({ inputUrlPath: 'one.txt' })).inputUrlPath).toBe('one.txt');
  });
});

describe('the server of a task', () => {
  it('is attached, runs tasks, and still exists', async () => {
    const other = await aTaskServer(app, alice);
    await refusal({ instanceRef: { id: other } }, 'This server is not attached to the project', 'instanceRef');
    const old = await aTaskServer(app, alice, { features: [] });
    await attach(alice, place.project.id, old);
    await refusal({ instanceRef: { id: old } }, 'The agent of this server is too old to run tasks', 'instanceRef');
    const own = await aSelfHostedServer(app.ctx, alice, 'awaiting setup');
    await attach(alice, place.project.id, own);
    await refusal({ instanceRef: { id: own } }, 'This server has not been set up yet', 'instanceRef');
    const gone = await aTaskServer(app, alice);
    await attach(alice, place.project.id, gone);
    await app.ctx.db.updateTable('instance').set({ closed_at: new Date() }).where('id', '=', gone).execute();
    await refusal({ instanceRef: { id: gone } }, 'This server exists no more', 'instanceRef');
  });

  it('need not be online: the task waits for it', async () => {
    const coming = await aRentedInstance(app.ctx, alice, 'creating');
    await attach(alice, place.project.id, coming);
    expect((await create({ instanceRef: { id: coming } })).instance.status).toBe('creating');
    await refusal({ instanceRef: { id: coming }, gpuCount: 1 }, 'This server has no GPUs', 'gpuCount');
    await refusal({ instanceRef: { id: coming }, cpus: 5 }, 'CPUs: at most 4 on this server', 'cpus');
  });
});

describe('what a task needs', () => {
  it('is of the caller’s workspace', async () => {
    const theirs = await aTaskPlace(app, bob);
    await refusal({ projectRef: { id: theirs.project.id } }, 'This project cannot be chosen', 'projectRef');
    await refusal({ instanceRef: { id: theirs.instance } }, 'This server cannot be chosen', 'instanceRef');
    await refusal({ storageRef: { id: theirs.storage } }, 'This storage cannot be chosen', 'storageRef');
    await refusal({ storageRef: { slug: 'no-such-storage' } }, 'This storage cannot be chosen', 'storageRef');
  });

  it('is a project that may be changed, and a storage that can be written to', async () => {
    const archived = await aProject(app.ctx, alice, 'archived');
    await refusal({ projectRef: { id: archived } }, 'This project is archived: it can only be read', 'projectRef');
    const renting = await aStorage(app.ctx, alice, 'renting');
    await refusal({ storageRef: { id: renting } }, 'Only a rented storage can be used', 'storageRef');
    const log = await aStorage(app.ctx, alice);
    await app.ctx.db
      .updateTable('storage')
      .set({ kind: 'log', instance_id: place.instance })
      .where('id', '=', log)
      .execute();
    await refusal({ storageRef: { id: log } }, 'Only the platform writes to a log bucket', 'storageRef');
  });

  it('is a balance: nothing starts at zero', async () => {
    const carol = await app.signUp('Carol');
    const hers = await aTaskPlace(app, carol);
    const exhausted = (at: Date | null) =>
      app.ctx.db.updateTable('workspace').set({ exhausted_at: at }).where('id', '=', carol.workspaceId).execute();
    await exhausted(new Date());
    await expect(hers.create(carol)).rejects.toMatchObject({
      status: 200,
      message: 'Zero balance: no task can start until a deposit',
    });
    await exhausted(null);
    await hers.create(carol);
  });

  const withToken = async (...permissions: Permission[]) => {
    const { token } = await anApiToken(app.ctx, alice, { permissions });
    return (path: string, body: unknown) =>
      app.post(path, body, { authorization: `Bearer ${token}`, 'idempotency-key': randomUUID() });
  };

  it.each<[Permission[], number, string[]?]>([
    [['PROJECT_MANAGEMENT', 'INSTANCE_RENTED_MANAGEMENT'], 403],
    [['RUNNING_TASKS'], 400, ['projectRef', 'storageRef']],
    [['RUNNING_TASKS', 'PROJECT'], 400, ['storageRef']],
    [['RUNNING_TASKS', 'INSTANCE_RENTED_MANAGEMENT'], 400, ['projectRef']],
    [['RUNNING_TASKS', 'INSTANCE_RENTED', 'SELFHOSTED_INSTANCE_MANAGEMENT', 'PROJECT_MANAGEMENT'], 400, ['storageRef']],
    [['RUNNING_TASKS', 'PROJECT', 'INSTANCE_RENTED_MANAGEMENT'], 200],
    [['RUNNING_TASKS', 'PROJECT_MANAGEMENT', 'INSTANCE_RENTED_MANAGEMENT'], 200],
  ])('is the permissions for tasks, for the project and for the storage: with %j', async (held, status, fields) => {
    const call = await withToken(...held);
    const { id } = await create();
    await app.ctx.db.updateTable('task').set({ status: 'canceled' }).where('id', '=', id).execute();
    const schedule = (title: string) => ({ ...place.input(), title, cron: '0 3 1 1 *', timeZone: 'UTC' });
    const { entity } = await alice.client(api.tasks.createSchedule, schedule('hers'));
    await alice.client(api.tasks.editSchedule, { id: entity.id, isPaused: true });
    const { cloneOf: _, title: __, ...task } = { ...place.input(), cloneOf: undefined, title: undefined };
    const below = fields?.map((field) => `task.${field}`);
    const answers: [answer: Awaited<ReturnType<typeof call>>, fields: string[] | undefined][] = [
      [await call(api.tasks.create.path, place.input()), fields],
      [await call(api.tasks.createSchedule.path, schedule('theirs')), fields],
      [await call(api.tasks.rerun.path, { id }), fields],
      [await call(api.tasks.editSchedule.path, { id: entity.id, isPaused: false }), fields],
      [await call(api.tasks.editSchedule.path, { id: entity.id, task }), below],
    ];
    for (const [answer, wanted] of answers)
      expect(answer).toMatchObject({ status, ...(wanted && { body: { fieldsWithError: wanted } }) });
    expect(await call('task/form', {})).toMatchObject({ status: held.includes('RUNNING_TASKS') ? 200 : 403 });
  });
});
