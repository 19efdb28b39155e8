import { api } from '@stagi/contract/api.ts';
import type { InputOf } from '@stagi/contract/call.ts';
import { TASKS_FEATURE } from '@stagi/contract/daemon.ts';
import { putObjects } from '../../contentHost/testing/visitContent.ts';
import { aProjectWith, type CodeProject } from '../../projectCode/testing/aRepository.ts';
import type { TestApp } from '../../testing/app.ts';
import { FACTS } from '../../testing/daemon.ts';
import { aRentedInstance, aSelfHostedServer, aStorage } from '../../testing/factories.ts';
import type { Person } from '../../testing/person.ts';

type Input = InputOf<typeof api.tasks.create>;

/** Everything that a task needs: code with commits, an attached server, a storage with input. */
export interface TaskPlace {
  project: CodeProject;
  instance: number;
  storage: number;
  /** A valid input of `task/create`. */
  input(over?: Partial<Input>): Input;
  /** Creates a task, and answers it. */
  create(by: Person, over?: Partial<Input>): ReturnType<typeof createdBy>;
}

let places = 0;

/** The server has 4 CPUs and 2 GPUs; the storage holds `data/a.txt` and `one.txt`. */
export async function aTaskPlace(app: TestApp, owner: Person): Promise<TaskPlace> {
  places += 1;
  const project = await aProjectWith(
    app,
    owner,
    `code-${places}`,
    [
      { message: 'Begin\n\nWith a body.', files: { 'main.py': 'print(1)\n' } },
      { message: 'Train longer', files: { 'main.py': 'print(2)\n' } },
      { message: 'On a branch', branch: 'topic/x', files: { 'main.py': 'print(3)\n' } },
    ],
    { tags: { 'v1.0': 1 } },
  );
  const instance = await aTaskServer(app, owner);
  await attach(owner, project.id, instance);
  const storage = await aStorage(app.ctx, owner);
  await putObjects(app, owner, storage, [
    { key: 'data/a.txt', body: 'input' },
    { key: 'one.txt', body: 'input' },
  ]);
  const input = (over: Partial<Input> = {}): Input => ({
    projectRef: { id: project.id },
    instanceRef: { id: instance },
    storageRef: { id: storage },
    inputUrlPath: 'data/',
    inputPath: '/input',
    outputPath: '/output',
    command: 'python main.py',
    commit: 'main',
    image: 'python:3.13',
    cpus: 1,
    gpuCount: 0,
    ...over,
  });
  return { project, instance, storage, input, create: (by, over) => createdBy(by, input(over)) };
}

const createdBy = async (by: Person, input: Input) => (await by.client(api.tasks.create, input)).entity;

/** A server whose daemon runs tasks, with 4 CPUs and 2 GPUs. */
export async function aTaskServer(
  { ctx }: TestApp,
  owner: Person,
  { kind = 'rented', features = [TASKS_FEATURE] }: { kind?: 'rented' | 'self-hosted'; features?: string[] } = {},
): Promise<number> {
  const id = await (kind === 'rented' ? aRentedInstance : aSelfHostedServer)(ctx, owner);
  const gpus = [0, 1].map((index) => ({ index, name: 'H100', memoryMb: 80_000 }));
  const facts = JSON.stringify({ ...FACTS, gpus });
  await ctx.db
    .insertInto('daemon_node')
    .values({ instance_id: id, facts, features })
    .onConflict((conflict) => conflict.column('instance_id').doUpdateSet({ facts, features }))
    .execute();
  return id;
}

export const attach = (by: Person, project: number, instance: number) =>
  by.client(api.projects.attachInstance, { projectRef: { id: project }, instanceRef: { id: instance } });
