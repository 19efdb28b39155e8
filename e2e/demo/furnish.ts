import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { api } from '@stagi/contract/api.ts';
import type { Role } from '@stagi/contract/permissions.ts';
import { credit } from '@stagi/server/src/billing/meteredWorkspace.ts';
import { meterWorkspace } from '@stagi/server/src/billing/meterWorkspace.ts';
import { aMachine } from '@stagi/server/src/gitHosting/testing/gitClient.ts';
import type { TestApp } from '@stagi/server/src/testing/app.ts';
import { markSteppedUp } from '@stagi/server/src/testing/factories.ts';
import { httpSender, type Person } from '@stagi/server/src/testing/person.ts';
import { signUpDirectly } from '@stagi/server/src/testing/signUpDirectly.ts';
import { sql } from 'kysely';
import { until } from '../waitUntil.ts';
import type { Machine } from './machines.ts';
import { ASSISTANT_README, DETECTOR_COMMITS } from './madeUpFiles.ts';
import { attachOwn, RENTED, rentServer, startRented, stopServer } from './servers.ts';

export const WORKSPACE = 'Fjordlight';
const PLAN = 'Team';

const PEOPLE: readonly { name: string; email: string; role: Role }[] = [
  { name: 'Jonas Weber', email: 'jonas@fjordlight.example', role: 'Admin' },
  { name: 'Priya Nair', email: 'priya@fjordlight.example', role: 'Developer' },
  { name: 'Tomás Herrera', email: 'tomas@fjordlight.example', role: 'Developer' },
  { name: 'Ingrid Solheim', email: 'ingrid@fjordlight.example', role: 'Billing' },
];

/** The longest that something has existed in the workspace. */
const HOURS = 288;
const METERED_EVERY_HOURS = 4;

export interface Furnished {
  maya: Person;
  servers: { training: number; inference: number; experiments: number; workstation: number };
  machines: { training: Machine; inference: Machine; workstation: Machine };
  containers: Record<'model' | 'cache' | 'board' | 'notebook', number>;
  storages: { datasets: number; checkpoints: number };
  projects: { inspector: number; assistant: number };
}

/** Makes the workspace: everything through the platform, on servers that a daemon of tests stands for. */
export async function furnish(app: TestApp): Promise<Furnished> {
  const send = httpSender(app.url);
  const maya = await signUpDirectly(app.ctx, send, { name: 'Maya Lindqvist', email: 'maya@fjordlight.example' });
  await maya.client(api.clients.edit, { newName: WORKSPACE });
  await sql`update workspace set plan = ${PLAN} where id = ${maya.workspaceId}`.execute(app.ctx.db);
  for (const { role, ...who } of PEOPLE) {
    const { userId } = await signUpDirectly(app.ctx, send, who);
    await sql`insert into membership (workspace_id, user_id, role) values (${maya.workspaceId}, ${userId}, ${role})`.execute(
      app.ctx.db,
    );
  }
  await credit(app.ctx.db, maya.workspaceId, 'card', 3_200_000_000n);
  const rented = await rentAll(app, maya);
  await maya.client(api.sshKeys.generate, { title: 'Laptop' });
  await maya.client(api.sshKeys.generate, { title: 'Build server' });
  await sql`insert into instance_ssh_key (instance_id, ssh_key_id, installed_at)
    select i, k.id, now() from unnest(array[${rented.training}::int, ${rented.inference}::int]) i,
      (select id from ssh_key where user_id = ${maya.userId} order by id limit 1) k`.execute(app.ctx.db);
  const own = await attachOwn(app, maya);
  const machines = {
    training: await startRented(app, rented.training, RENTED[0]!),
    inference: await startRented(app, rented.inference, RENTED[1]!),
    workstation: own.machine,
  };
  const servers = { ...rented, workstation: own.id };
  const projects = await startProjects(app, maya, servers);
  const containers = await startContainers(maya, servers, projects.inspector);
  const storages = await fillStorages(maya);
  await maya.client(api.gettingStarted.edit, { closed: true });
  return { maya, servers, machines, containers, storages, projects };
}

/** Lets the clock of the meter run from the first rental until now. */
async function rentAll(app: TestApp, maya: Person) {
  const { db } = app.ctx;
  const ids: Record<string, number> = {};
  const beginning = Date.now() - HOURS * 3_600_000;
  const setClock = async (hour: number) => {
    const at = new Date(beginning + hour * 3_600_000).toISOString();
    await sql
      .raw(
        `create or replace function metering_clock() returns timestamptz language sql volatile as $$ select timestamptz '${at}' $$`,
      )
      .execute(db);
  };
  for (let hour = 0; hour < HOURS; hour += METERED_EVERY_HOURS) {
    for (const server of RENTED) {
      const start = HOURS - server.hoursAgo;
      if (start < hour || start >= hour + METERED_EVERY_HOURS) continue;
      await setClock(start);
      ids[server.slug] = await rentServer(app, maya, server);
    }
    await setClock(hour + METERED_EVERY_HOURS);
    if (hour === 204) await stopServer(app, maya, ids.experiments!);
    await meterWorkspace(db, maya.workspaceId);
  }
  await sql`create or replace function metering_clock() returns timestamptz language sql volatile as 'select clock_timestamp()'`.execute(
    db,
  );
  return ids as { training: number; inference: number; experiments: number };
}

async function startContainers({ client }: Person, servers: Furnished['servers'], projectId: number) {
  const usual = { env: [], portMappings: [], directoryMappings: [], restartPolicy: 'unless-stopped' as const };
  const on = async (id: number, of: object) => {
    const { entity } = await client(api.containers.create, { instanceRef: { id }, ...usual, ...of } as never);
    return entity.id;
  };
  return {
    model: await on(servers.inference, {
      title: 'Assistant model',
      slug: 'assistant-model',
      dockerImage: 'ghcr.io/ggml-org/llama.cpp:server-cuda',
      command: '-m /models/assistant-8b-q5.gguf -c 4096 --parallel 8',
      cpus: 4,
      memoryGb: 24,
      gpuIds: [0],
      env: [{ name: 'LLAMA_ARG_METRICS', value: '1' }],
      portMappings: [{ host: 8000, container: 8080, visibility: 'private' }],
      directoryMappings: [{ host: '/data/models', container: '/models' }],
    }),
    cache: await on(servers.inference, {
      title: 'Session cache',
      slug: 'session-cache',
      dockerImage: 'redis:8.2',
      cpus: 1,
      memoryGb: 4,
      gpuIds: [],
    }),
    board: await on(servers.training, {
      title: 'Training curves',
      slug: 'training-curves',
      dockerImage: 'tensorboard-viewer:2.20',
      cpus: 2,
      memoryGb: 8,
      gpuIds: [],
      projectRef: { id: projectId },
      portMappings: [{ host: 6006, container: 6006, visibility: 'private' }],
      directoryMappings: [{ host: '/data/runs', container: '/runs' }],
    }),
    notebook: await on(servers.workstation, {
      title: 'Notebook',
      slug: 'notebook',
      dockerImage: 'quay.io/jupyter/pytorch-notebook:cuda12',
      cpus: 8,
      memoryGb: 32,
      gpuIds: [0],
      portMappings: [{ host: 8888, container: 8888, visibility: 'private' }],
      directoryMappings: [{ host: '/srv/notebooks', container: '/home/jovyan/work' }],
    }),
  };
}

async function fillStorages({ client }: Person) {
  const rent = async (title: string, slug: string, sizeGb: number) => {
    const { entity } = await client(api.storages.create, { title, slug, sizeGb, location: 'local' });
    await until(`the storage ${title} is rented`, 30_000, async () => {
      const { entity: now } = await client(api.storages.view, { id: entity.id });
      return now.status === 'rented';
    });
    return entity.id;
  };
  const datasets = await rent('Datasets', 'fjordlight-datasets', 200);
  const checkpoints = await rent('Checkpoints', 'fjordlight-checkpoints', 300);
  const put = async (id: number, key: string, body: string) => {
    const { link } = await client(api.storages.uploadLink, { id, key });
    if (!(await fetch(link, { method: 'PUT', body })).ok) throw new Error(`${key} was not stored`);
  };
  for (const split of ['train', 'validation', 'test']) await put(datasets, `welds/${split}.csv`, 'picture,boxes\n');
  for (let n = 1; n <= 24; n += 1)
    await put(datasets, `welds/pictures/line-2-${String(n).padStart(4, '0')}.jpg`, 'jpg');
  await put(datasets, 'manuals/press-brake.pdf', 'pdf');
  await put(datasets, 'README.md', '# Data of Fjordlight\n');
  for (const epoch of [20, 40, 60]) await put(checkpoints, `welds/epoch-${epoch}.pt`, 'pt');
  await put(checkpoints, 'assistant/assistant-8b-q5.gguf', 'gguf');
  await client(api.storages.createKey, { id: datasets, title: 'Camera line 2', mode: 'read-write', prefix: 'welds/' });
  await client(api.storages.createKey, { id: datasets, title: 'Notebook', mode: 'read-only' });
  return { datasets, checkpoints };
}

async function startProjects(app: TestApp, maya: Person, servers: Furnished['servers']) {
  const { client } = maya;
  const { entity: inspector } = await client(api.projects.create, {
    title: 'Weld inspector',
    slug: 'weld-inspector',
    description: 'Finds faulty welds in pictures of a production line',
  });
  const { entity: assistant } = await client(api.projects.create, {
    title: 'Service assistant',
    slug: 'service-assistant',
    description: 'Answers questions of technicians from manuals',
  });
  await markSteppedUp(app.ctx, maya);
  const { token } = await client(api.apiTokens.create, { description: 'Laptop' });
  await client(api.apiTokens.create, { description: 'Nightly evaluation' });
  await push(inspector.gitHttps, token, DETECTOR_COMMITS);
  await push(assistant.gitHttps, token, [{ message: 'Begin', files: { 'README.md': ASSISTANT_README } }]);
  for (const id of [servers.training, servers.workstation])
    await client(api.projects.attachInstance, { projectRef: { id: inspector.id }, instanceRef: { id } });
  return { inspector: inspector.id, assistant: assistant.id };
}

const AUTHORS = ['Priya Nair', 'Maya Lindqvist', 'Tomás Herrera', 'Priya Nair'];

async function push(
  address: string,
  token: string,
  commits: readonly { message: string; files: Record<string, string> }[],
): Promise<void> {
  const machine = aMachine();
  const folder = join(machine.home, 'code');
  await machine.ok(['init', '-q', '-b', 'main', folder]);
  for (const [index, { message, files }] of commits.entries()) {
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), content);
    }
    const author = AUTHORS[index % AUTHORS.length]!;
    const at = new Date(Date.now() - (commits.length - index) * 47 * 3_600_000).toISOString();
    const email = `${author
      .split(' ')[0]!
      .normalize('NFD')
      .replace(/[^a-z]/gi, '')
      .toLowerCase()}@fjordlight.example`;
    const env = {
      GIT_AUTHOR_NAME: author,
      GIT_AUTHOR_EMAIL: email,
      GIT_COMMITTER_NAME: author,
      GIT_COMMITTER_EMAIL: email,
      GIT_AUTHOR_DATE: at,
      GIT_COMMITTER_DATE: at,
    };
    await machine.ok(['add', '-A'], { cwd: folder });
    await machine.ok(['commit', '-q', '-m', message], { cwd: folder, env });
  }
  await machine.ok(['push', '-q', address.replace('://', `://git:${token}@`), 'main'], { cwd: folder });
  machine.remove();
}
