import { api } from '@stagi/contract/api.ts';
import type { InputOf } from '@stagi/contract/call.ts';
import { type ActualContainer, EDIT_FEATURE } from '@stagi/contract/daemon.ts';
import { ENGINE_TEMPLATES, engineTemplate, fillIn, serves } from '@stagi/contract/engineTemplates.ts';
import type { MachineFacts } from '@stagi/contract/instances.ts';
import { models } from '@stagi/perf/catalogueFiles.ts';
import { filesOf } from '@stagi/perf/quality.ts';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openEnv } from '../containers/desired.ts';
import { inTransaction } from '../db/pool.ts';
import { line, openLog } from '../logging/testing/shipped.ts';
import { issueEnrolment } from '../nodes/enrolment.ts';
import { aKey, type CloudApp, startCloudApp } from '../testing/cloudApp.ts';
import { connectDaemon, enrolNode, type TestDaemon } from '../testing/daemon.ts';
import { aRentedInstance, aSelfHostedServer } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';

type Deploy = InputOf<typeof api.modelEndpoints.deploy>;

const SMALL = { id: 'Qwen/Qwen3-0.6B' };
const LLAMA = { id: 'meta-llama/Llama-3.1-8B-Instruct' };
const L4 = { index: 0, name: 'NVIDIA L4', memoryMb: 23_034 };

let app: CloudApp;
let alice: Person;
const daemons: TestDaemon[] = [];
beforeAll(async () => {
  app = await startCloudApp();
  alice = await app.signUp('Alice');
});
afterEach(async () => {
  for (const daemon of daemons.splice(0)) await daemon.close();
});
afterAll(() => app?.close());

async function join(id: number, facts: Partial<MachineFacts>): Promise<TestDaemon> {
  const { token } = await inTransaction(app.ctx.db, (trx) => issueEnrolment(app.ctx, trx, id, 'rented'));
  const daemon = await connectDaemon(app.url, await enrolNode(app.url, token), { facts, features: [EDIT_FEATURE] });
  daemons.push(daemon);
  return daemon;
}

/** An online server with these GPUs. */
async function aServer(gpus: MachineFacts['gpus'] = [], ramGb = 32): Promise<{ id: number; daemon: TestDaemon }> {
  const id = await aRentedInstance(app.ctx, alice);
  return { id, daemon: await join(id, { gpus, cpus: 8, ramBytes: ramGb * 2 ** 30 }) };
}

let made = 0;
const form = (more: Partial<Deploy>): Deploy => {
  made += 1;
  return {
    modelRef: SMALL,
    quality: 'original',
    template: 'vllm',
    title: 'A model',
    slug: `model-${made}`,
    cpus: 1,
    port: 8000,
    ...more,
  };
};
const deploy = async (more: Partial<Deploy>) => (await alice.client(api.modelEndpoints.deploy, form(more))).entity;
const view = async (id: number) => (await alice.client(api.modelEndpoints.view, { id })).entity;
const container = async (id: number) => (await alice.client(api.containers.view, { id })).entity;

describe('templates of engines', () => {
  it('serve every model that has a chat with at least one of its files', () => {
    const chats = models.filter(({ task }) =>
      ['text-generation', 'reasoning', 'code', 'vision-language'].includes(task),
    );
    expect(chats.length).toBeGreaterThan(50);
    for (const model of chats)
      expect
        .soft(
          ENGINE_TEMPLATES.some((template) => filesOf(model).some((file) => serves(template, model.task, file))),
          model.id,
        )
        .toBe(true);
  });

  it.each(ENGINE_TEMPLATES.map((template) => [template.name, template] as const))(
    '%s fills in every place that it names',
    (_, template) => {
      const served = { repository: 'Org/Model', variant: 'Q4_K_M', context: 4096, gpus: 2 };
      const texts = [template.command ?? '', template.modelName, ...Object.values(template.env)];
      for (const text of texts) expect(fillIn(text, served)).not.toMatch(/[{}]/);
      expect(fillIn(template.modelName, served)).toContain('Org/Model');
    },
  );

  it('leave out an option whose place has no value', () => {
    const { command } = engineTemplate('vllm');
    expect(fillIn(command!, { repository: 'BAAI/bge-m3', variant: null, context: null, gpus: 1 })).toBe(
      '--model BAAI/bge-m3 --tensor-parallel-size 1',
    );
  });
});

describe('deploying a model', () => {
  it('makes a container from the template of the engine, with its key and the token of the hub as secrets', async () => {
    const { id, daemon } = await aServer([L4]);
    const endpoint = await deploy({ instanceRef: { id }, modelRef: LLAMA, quality: 'XL', token: 'hf_secret' });
    expect(endpoint).toMatchObject({
      status: 'creating',
      precision: 'fp8',
      gpuCount: 1,
      context: 8192,
      hasKey: true,
      instance: { id, gpu: { name: 'NVIDIA L4' } },
      model: { id: LLAMA.id, name: 'llama-3.1-8b-instruct' },
    });
    const one = await container(endpoint.container!.id);
    expect(one).toMatchObject({
      dockerImage: engineTemplate('vllm').image.gpu,
      command: `--model ${endpoint.repository} --max-model-len 8192 --tensor-parallel-size 1`,
      gpuIds: [0],
      secretEnvNames: ['HF_TOKEN', 'VLLM_API_KEY'],
      portMappings: [{ host: 8000, container: 8000, visibility: 'private' }],
      directoryMappings: [{ host: '/data/models', container: '/root/.cache/huggingface' }],
    });
    const { key } = await alice.client(api.modelEndpoints.revealKey, { id: endpoint.id });
    const row = await app.ctx.db
      .selectFrom('container')
      .select(['slug', 'env_sealed'])
      .where('id', '=', one.id)
      .executeTakeFirstOrThrow();
    const env = openEnv(app.ctx, row).map(({ name, value }) => [name, value]);
    expect(Object.fromEntries(env)).toEqual({ HF_TOKEN: 'hf_secret', VLLM_API_KEY: key });
    daemon.applyDesired(await daemon.desired(({ containers }) => containers.length > 0));
    await expect.poll(async () => (await view(endpoint.id)).status).toBe('loading');
    const { deadline } = await view(endpoint.id);
    expect(Date.parse(deadline!)).toBeGreaterThan(Date.now());
    const { entities } = await alice.client(api.modelEndpoints.list, { modelRef: { name: 'llama-3.1-8b-instruct' } });
    expect(entities.map((entity) => entity.id)).toEqual([endpoint.id]);
    expect((await alice.client(api.modelEndpoints.list, { modelRef: SMALL })).entities).toEqual([]);
    await expect(alice.client(api.modelEndpoints.list, { modelRef: { name: 'no-such-model' } })).rejects.toMatchObject({
      status: 404,
    });
  });

  it('keeps the secrets out of every answer and of the audit log', async () => {
    const { id } = await aServer();
    const endpoint = await deploy({
      instanceRef: { id },
      quality: 'M',
      modelRef: LLAMA,
      template: 'llama.cpp',
      token: 'hf_canary_token',
    });
    const { key } = await alice.client(api.modelEndpoints.revealKey, { id: endpoint.id });
    const answers = JSON.stringify([
      endpoint,
      await container(endpoint.container!.id),
      await alice.client(api.modelEndpoints.list, {}),
    ]);
    const log = await sql`select detail::text from audit`.execute(app.ctx.db);
    const rows = JSON.stringify([
      await app.ctx.db.selectFrom('model_endpoint').selectAll().execute(),
      await app.ctx.db.selectFrom('container').selectAll().execute(),
    ]);
    for (const text of [answers, JSON.stringify(log.rows), rows])
      for (const secret of ['hf_canary_token', key]) expect(text).not.toContain(secret);
  });

  it('serves GGUF files with CPUs where there is no GPU, as long as they fit its memory', async () => {
    const { id } = await aServer([], 16);
    const endpoint = await deploy({ instanceRef: { id }, modelRef: LLAMA, quality: 'M', template: 'llama.cpp' });
    expect(endpoint).toMatchObject({ gpuCount: 0, variant: 'Q4_K_M' });
    expect(await container(endpoint.container!.id)).toMatchObject({
      dockerImage: engineTemplate('llama.cpp').image.cpu,
      command: `-hf ${endpoint.repository}:Q4_K_M -c 8192 -ngl 999 --host 0.0.0.0 --port 8080`,
    });
    const small = await aServer([], 4);
    await expect(
      deploy({ instanceRef: { id: small.id }, modelRef: LLAMA, quality: 'XL', template: 'llama.cpp', port: 8001 }),
    ).rejects.toMatchObject({
      body: { fieldsWithError: ['instanceRef'], message: 'The model is too large for this server' },
    });
  });

  it.each<[string, () => Promise<Partial<Deploy>>, string, string]>([
    ['without a server', async () => ({}), 'instanceRef', 'Server is required'],
    [
      'on a server without a GPU that its engine needs',
      async () => ({ instanceRef: { id: (await aServer()).id } }),
      'instanceRef',
      'This engine needs a server with a GPU',
    ],
    [
      'on a GPU that is too small',
      async () => ({
        instanceRef: { id: (await aServer([L4])).id },
        modelRef: { id: 'meta-llama/Llama-3.3-70B-Instruct' },
      }),
      'instanceRef',
      'The model is too large for this server',
    ],
    [
      'on a GPU that nobody knows',
      async () => ({ instanceRef: { id: (await aServer([{ index: 0, name: 'GPU', memoryMb: 1024 }])).id } }),
      'instanceRef',
      'The GPU of this server is not in the catalogue: whether the model fits is not known',
    ],
    [
      'in a quality without files',
      async () => ({ instanceRef: { id: (await aServer([L4])).id }, modelRef: { id: 'BAAI/bge-m3' }, quality: 'S' }),
      'quality',
      'Nobody publishes files of this quality',
    ],
    [
      'with an engine that cannot read its files',
      async () => ({ instanceRef: { id: (await aServer([L4])).id }, template: 'ollama' }),
      'template',
      'This engine does not serve files of this quality',
    ],
    [
      'with a context that it does not have',
      async () => ({ instanceRef: { id: (await aServer([L4])).id }, context: 9_000_000 }),
      'context',
      'This model has a context of at most 40960 tokens',
    ],
    [
      'on more GPUs than there are',
      async () => ({ instanceRef: { id: (await aServer([L4])).id }, gpuCount: 4 }),
      'gpuCount',
      'The server has fewer GPUs',
    ],
    [
      'with a port that none may have',
      async () => ({ instanceRef: { id: (await aServer([L4])).id }, port: 80 }),
      'port',
      'Port must be between 1000 and 9999',
    ],
  ])('is refused %s', async (_, more, field, message) => {
    await expect(deploy(await more())).rejects.toMatchObject({
      status: 400,
      body: { fieldsWithError: [field], message },
    });
  });

  it('names the fields of its own form where the container is refused', async () => {
    const { id } = await aServer([L4]);
    await deploy({ instanceRef: { id }, port: 8000 });
    await expect(deploy({ instanceRef: { id }, port: 8000, gpuCount: 0 })).rejects.toMatchObject({
      body: { fieldsWithError: ['gpuCount'], message: 'This engine needs a GPU' },
    });
    await expect(deploy({ instanceRef: { id }, port: 8001 })).rejects.toMatchObject({
      body: { fieldsWithError: ['gpuCount'], message: 'The server has too few free GPUs' },
    });
    const other = await aServer();
    const gguf = { modelRef: LLAMA, quality: 'S', template: 'llama.cpp', instanceRef: { id: other.id } } as const;
    await deploy(gguf);
    await expect(deploy(gguf)).rejects.toMatchObject({ body: { fieldsWithError: ['port'] } });
  });

  it('tries what does not fit when it is told to', async () => {
    const { id } = await aServer([{ index: 0, name: 'GPU', memoryMb: 1024 }]);
    const endpoint = await deploy({ instanceRef: { id }, evenIfItDoesNotFit: true });
    expect(endpoint).toMatchObject({ status: 'creating', gpuCount: 1 });
  });

  it('is deleted with its container, and leaves the server', async () => {
    const { id, daemon } = await aServer([L4]);
    const endpoint = await deploy({ instanceRef: { id } });
    daemon.applyDesired(await daemon.desired(({ containers }) => containers.length > 0));
    await expect.poll(async () => (await view(endpoint.id)).status).toBe('loading');
    await alice.client(api.modelEndpoints.delete, { id: endpoint.id });
    await expect(view(endpoint.id)).rejects.toMatchObject({ status: 404 });
    expect((await container(endpoint.container!.id)).status).toBe('terminating');
    expect((await alice.client(api.instances.view, { id })).entity.status).toBe('online');
  });
});

describe('deploying a model on a server that is rented for it', () => {
  /** A plan allows one server with a GPU at a time. */
  const asSomebodyNew = async () => {
    alice = await app.signUp();
  };
  beforeEach(asSomebodyNew);
  const rental = async (offerId: string) => {
    made += 1;
    return { offerId, title: 'For a model', slug: `for-model-${made}`, sshKeyId: await aKey(alice) };
  };
  const ofServer = (id: number, facts: Partial<MachineFacts>) => join(id, facts);

  it('waits for the server and makes the container then', async () => {
    const endpoint = await deploy({ modelRef: LLAMA, quality: 'XL', rent: await rental('fake:sim-l4-1') });
    expect(endpoint).toMatchObject({ status: 'waiting for server', container: null, gpuCount: 1 });
    expect(Date.parse(endpoint.deadline!)).toBeGreaterThan(Date.now());
    await expect
      .poll(async () => (await view(endpoint.id)).instance.status, { timeout: 60_000 })
      .toMatch(/creating|online/);
    const daemon = await ofServer(endpoint.instance.id, { gpus: [L4], cpus: 8, ramBytes: 32 * 2 ** 30 });
    await expect.poll(async () => (await view(endpoint.id)).status, { timeout: 60_000 }).toBe('creating');
    const desired = await daemon.desired(({ containers }) => containers.length > 0);
    expect(desired.containers[0]!.spec.gpuIds).toEqual([0]);
    const { wanted_sealed } = await app.ctx.db
      .selectFrom('model_endpoint')
      .select('wanted_sealed')
      .where('id', '=', endpoint.id)
      .executeTakeFirstOrThrow();
    expect(wanted_sealed).toBeNull();
  });

  it('fails with the reason when there is no server, or when it is refused there', async () => {
    const gone = await deploy({ rent: await rental('fake:sim-l4-1') });
    await alice.client(api.instances.terminate, { id: gone.instance.id });
    await expect.poll(async () => (await view(gone.id)).status).toBe('failed');
    await asSomebodyNew();
    const late = await deploy({ rent: await rental('fake:sim-l4-1') });
    await sql`update model_endpoint set server_deadline = now() - interval '1 second' where id = ${late.id}`.execute(
      app.ctx.db,
    );
    await expect
      .poll(async () => await view(late.id))
      .toMatchObject({
        status: 'failed',
        reason: 'Its server was not online in time',
      });
    await asSomebodyNew();
    const refused = await deploy({ rent: await rental('fake:sim-l4-1') });
    await ofServer(refused.instance.id, { gpus: [], cpus: 8 });
    await expect
      .poll(async () => await view(refused.id), { timeout: 60_000 })
      .toMatchObject({ status: 'failed', reason: 'The server has too few free GPUs' });
  });

  it('names the fields of the rent, and charges nothing when it is refused', async () => {
    const before = await alice.client(api.instances.list, {});
    const rent = { ...(await rental('fake:sim-l4-1')), sshKeyId: 999_999 };
    await expect(deploy({ rent })).rejects.toMatchObject({ body: { fieldsWithError: ['rent.sshKeyId'] } });
    await expect(
      deploy({ modelRef: { id: 'meta-llama/Llama-3.3-70B-Instruct' }, rent: await rental('fake:sim-l4-1') }),
    ).rejects.toMatchObject({ body: { fieldsWithError: ['instanceRef'] } });
    const gone = { ...(await rental('fake:sim-l4-1')), offerId: 'fake:no-such-offer' };
    await expect(deploy({ rent: gone })).rejects.toMatchObject({
      body: { message: 'This server is no longer available. Choose another one.' },
    });
    expect((await alice.client(api.instances.list, {})).totalCount).toBe(before.totalCount);
  });

  it('is cancelled while it waits', async () => {
    const endpoint = await deploy({ rent: await rental('fake:sim-l4-1') });
    await alice.client(api.modelEndpoints.delete, { id: endpoint.id });
    await expect(view(endpoint.id)).rejects.toMatchObject({ status: 404 });
  });
});

describe('a served model that cannot be asked', () => {
  it('says why', async () => {
    const { id, daemon } = await aServer([L4]);
    const endpoint = await deploy({ instanceRef: { id } });
    const ask = () =>
      alice.client(api.modelEndpoints.run, {
        endpointRef: { id: endpoint.id },
        messages: [{ role: 'user', content: 'Hello' }],
      });
    await expect(ask()).rejects.toMatchObject({ body: { message: 'Its container does not run' } });
    daemon.applyDesired(await daemon.desired(({ containers }) => containers.length > 0));
    await expect.poll(async () => (await view(endpoint.id)).status).toBe('loading');
    // This daemon serves no streams.
    const { entity } = await alice.client(api.modelEndpoints.check, { id: endpoint.id });
    expect(entity).toMatchObject({
      status: 'loading',
      reason: 'The agent of this server is too old for this: install it again',
      answeredAt: null,
    });
    expect(entity.checkedAt).not.toBeNull();
    await expect(ask()).rejects.toMatchObject({ body: { message: entity.reason } });
  });
});

describe('a served model whose engine ends at once', () => {
  it('says so with exit code and last line, and is ready to load again once its engine stays', async () => {
    const { id, daemon } = await aServer([L4]);
    const endpoint = await deploy({ instanceRef: { id }, port: 8000 });
    const { id: containerId } = endpoint.container!;
    daemon.applyDesired(await daemon.desired(({ containers }) => containers.length > 0));
    await expect.poll(async () => (await view(endpoint.id)).status).toBe('loading');
    const log = await openLog(daemon, containerId);
    await log.print(line('OSError: You are trying to access a gated repo.'), line('   '));
    const report = (more: Partial<ActualContainer>) => {
      daemon.inventory.containers = daemon.inventory.containers.map((one) => ({ ...one, ...more }));
      daemon.sendInventory();
    };
    const now = () => new Date().toISOString();
    report({ state: 'restarting', exitCode: 1, restarts: 11, finishedAt: now() });
    await expect
      .poll(async () => await view(endpoint.id))
      .toMatchObject({
        status: 'failed',
        reason: 'Its engine ended with exit code 1 and is started again',
        lastLine: 'OSError: You are trying to access a gated repo.',
        deadline: null,
      });
    report({ state: 'running', exitCode: null, startedAt: now() });
    await expect.poll(async () => (await container(containerId)).restarts?.nextTryAt).toBeNull();
    expect((await view(endpoint.id)).status).toBe('failed');
    await sql`update container set looping_until = now() where id = ${containerId}`.execute(app.ctx.db);
    await expect
      .poll(async () => await view(endpoint.id))
      .toMatchObject({ status: 'loading', reason: 'Its engine ended with exit code 1 and is started again' });
    report({ state: 'exited', exitCode: 137, finishedAt: now() });
    await expect
      .poll(async () => await view(endpoint.id))
      .toMatchObject({ status: 'failed', reason: 'It ended with exit code 137' });
  });
});

describe('a model on an own server', () => {
  it('keeps weights below the folder that the policy of an own server names', async () => {
    const id = await aSelfHostedServer(app.ctx, alice);
    const { token } = await inTransaction(app.ctx.db, (trx) => issueEnrolment(app.ctx, trx, id, 'self-hosted'));
    const facts = { gpus: [L4], cpus: 8, ramBytes: 32 * 2 ** 30, volumeRoots: ['/srv/stagi'] };
    daemons.push(await connectDaemon(app.url, await enrolNode(app.url, token), { facts, features: [EDIT_FEATURE] }));
    const { container: made } = await deploy({ instanceRef: { id } });
    expect((await container(made!.id)).directoryMappings).toMatchObject([{ host: '/srv/stagi/models' }]);
    const rented = await aServer([L4]);
    const { container: other } = await deploy({ instanceRef: { id: rented.id } });
    expect((await container(other!.id)).directoryMappings).toMatchObject([{ host: '/data/models' }]);
  });
});
