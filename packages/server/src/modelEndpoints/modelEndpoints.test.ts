import { api } from '@stagi/contract/api.ts';
import { ENGINE_TEMPLATES, engineTemplate, fillIn, serves } from '@stagi/contract/engineTemplates.ts';
import { models } from '@stagi/perf/catalogueFiles.ts';
import { filesOf } from '@stagi/perf/quality.ts';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { openEnv } from '../containers/desired.ts';
import { aSelfHostedServer } from '../testing/factories.ts';
import { aModelsApp, type Deploy, L4, LLAMA, SMALL } from './testing/modelsApp.ts';

const at = aModelsApp();

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
    const { id, daemon } = await at.aServer([L4]);
    const endpoint = await at.deploy({ instanceRef: { id }, modelRef: LLAMA, quality: 'XL', token: 'hf_secret' });
    expect(endpoint).toMatchObject({
      status: 'creating',
      precision: 'fp8',
      gpuCount: 1,
      context: 8192,
      hasKey: true,
      instance: { id, gpu: { name: 'NVIDIA L4' } },
      model: { id: LLAMA.id, name: 'llama-3.1-8b-instruct' },
    });
    const one = await at.container(endpoint.container!.id);
    expect(one).toMatchObject({
      dockerImage: engineTemplate('vllm').image.gpu,
      command: `--model ${endpoint.repository} --max-model-len 8192 --tensor-parallel-size 1`,
      gpuIds: [0],
      secretEnvNames: ['HF_TOKEN', 'VLLM_API_KEY'],
      portMappings: [{ host: 8000, container: 8000, visibility: 'private' }],
      directoryMappings: [{ host: '/data/models', container: '/root/.cache/huggingface' }],
    });
    const { key } = await at.alice.client(api.modelEndpoints.revealKey, { id: endpoint.id });
    const row = await at.app.ctx.db
      .selectFrom('container')
      .select(['slug', 'env_sealed'])
      .where('id', '=', one.id)
      .executeTakeFirstOrThrow();
    const env = openEnv(at.app.ctx, row).map(({ name, value }) => [name, value]);
    expect(Object.fromEntries(env)).toEqual({ HF_TOKEN: 'hf_secret', VLLM_API_KEY: key });
    daemon.applyDesired(await daemon.desired(({ containers }) => containers.length > 0));
    await expect.poll(async () => (await at.view(endpoint.id)).status).toBe('loading');
    const { deadline } = await at.view(endpoint.id);
    expect(Date.parse(deadline!)).toBeGreaterThan(Date.now());
    const { entities } = await at.alice.client(api.modelEndpoints.list, {
      modelRef: { name: 'llama-3.1-8b-instruct' },
    });
    expect(entities.map((entity) => entity.id)).toEqual([endpoint.id]);
    expect((await at.alice.client(api.modelEndpoints.list, { modelRef: SMALL })).entities).toEqual([]);
    await expect(
      at.alice.client(api.modelEndpoints.list, { modelRef: { name: 'no-such-model' } }),
    ).rejects.toMatchObject({
      status: 404,
    });
  });

  it('keeps the secrets out of every answer and of the audit log', async () => {
    const { id } = await at.aServer();
    const endpoint = await at.deploy({
      instanceRef: { id },
      quality: 'M',
      modelRef: LLAMA,
      template: 'llama.cpp',
      token: 'hf_canary_token',
    });
    const { key } = await at.alice.client(api.modelEndpoints.revealKey, { id: endpoint.id });
    const answers = JSON.stringify([
      endpoint,
      await at.container(endpoint.container!.id),
      await at.alice.client(api.modelEndpoints.list, {}),
    ]);
    const log = await sql`select detail::text from audit`.execute(at.app.ctx.db);
    const rows = JSON.stringify([
      await at.app.ctx.db.selectFrom('model_endpoint').selectAll().execute(),
      await at.app.ctx.db.selectFrom('container').selectAll().execute(),
    ]);
    for (const text of [answers, JSON.stringify(log.rows), rows])
      for (const secret of ['hf_canary_token', key]) expect(text).not.toContain(secret);
  });

  it('serves GGUF files with CPUs where there is no GPU, as long as they fit its memory', async () => {
    const { id } = await at.aServer([], 16);
    const endpoint = await at.deploy({ instanceRef: { id }, modelRef: LLAMA, quality: 'M', template: 'llama.cpp' });
    expect(endpoint).toMatchObject({ gpuCount: 0, variant: 'Q4_K_M' });
    expect(await at.container(endpoint.container!.id)).toMatchObject({
      dockerImage: engineTemplate('llama.cpp').image.cpu,
      command: `-hf ${endpoint.repository}:Q4_K_M -c 8192 -ngl 999 --host 0.0.0.0 --port 8080`,
    });
    const small = await at.aServer([], 4);
    await expect(
      at.deploy({ instanceRef: { id: small.id }, modelRef: LLAMA, quality: 'XL', template: 'llama.cpp', port: 8001 }),
    ).rejects.toMatchObject({
      body: { fieldsWithError: ['instanceRef'], message: 'The model is too large for this server' },
    });
  });

  it.each<[string, () => Promise<Partial<Deploy>>, string, string]>([
    ['without a server', async () => ({}), 'instanceRef', 'Server is required'],
    [
      'on a server without a GPU that its engine needs',
      async () => ({ instanceRef: { id: (await at.aServer()).id } }),
      'instanceRef',
      'This engine needs a server with a GPU',
    ],
    [
      'on a GPU that is too small',
      async () => ({
        instanceRef: { id: (await at.aServer([L4])).id },
        modelRef: { id: 'meta-llama/Llama-3.3-70B-Instruct' },
      }),
      'instanceRef',
      'The model is too large for this server',
    ],
    [
      'on a GPU that nobody knows',
      async () => ({ instanceRef: { id: (await at.aServer([{ index: 0, name: 'GPU', memoryMb: 1024 }])).id } }),
      'instanceRef',
      'The GPU of this server is not in the catalogue: whether the model fits is not known',
    ],
    [
      'in a quality without files',
      async () => ({ instanceRef: { id: (await at.aServer([L4])).id }, modelRef: { id: 'BAAI/bge-m3' }, quality: 'S' }),
      'quality',
      'Nobody publishes files of this quality',
    ],
    [
      'with an engine that cannot read its files',
      async () => ({ instanceRef: { id: (await at.aServer([L4])).id }, template: 'ollama' }),
      'template',
      'This engine does not serve files of this quality',
    ],
    [
      'with a context that it does not have',
      async () => ({ instanceRef: { id: (await at.aServer([L4])).id }, context: 9_000_000 }),
      'context',
      'This model has a context of at most 40960 tokens',
    ],
    [
      'on more GPUs than there are',
      async () => ({ instanceRef: { id: (await at.aServer([L4])).id }, gpuCount: 4 }),
      'gpuCount',
      'The server has fewer GPUs',
    ],
    [
      'with a port that none may have',
      async () => ({ instanceRef: { id: (await at.aServer([L4])).id }, port: 80 }),
      'port',
      'Port must be between 1000 and 9999',
    ],
  ])('is refused %s', async (_, more, field, message) => {
    await expect(at.deploy(await more())).rejects.toMatchObject({
      status: 400,
      body: { fieldsWithError: [field], message },
    });
  });

  it('names the fields of its own form where the container is refused', async () => {
    const { id } = await at.aServer([L4]);
    await at.deploy({ instanceRef: { id }, port: 8000 });
    await expect(at.deploy({ instanceRef: { id }, port: 8000, gpuCount: 0 })).rejects.toMatchObject({
      body: { fieldsWithError: ['gpuCount'], message: 'This engine needs a GPU' },
    });
    await expect(at.deploy({ instanceRef: { id }, port: 8001 })).rejects.toMatchObject({
      body: { fieldsWithError: ['gpuCount'], message: 'The server has too few free GPUs' },
    });
    const other = await at.aServer();
    const gguf = { modelRef: LLAMA, quality: 'S', template: 'llama.cpp', instanceRef: { id: other.id } } as const;
    await at.deploy(gguf);
    await expect(at.deploy(gguf)).rejects.toMatchObject({ body: { fieldsWithError: ['port'] } });
  });

  it('tries what does not fit when it is told to', async () => {
    const { id } = await at.aServer([{ index: 0, name: 'GPU', memoryMb: 1024 }]);
    const endpoint = await at.deploy({ instanceRef: { id }, evenIfItDoesNotFit: true });
    expect(endpoint).toMatchObject({ status: 'creating', gpuCount: 1 });
  });

  it('is deleted with its container, and leaves the server', async () => {
    const { id, daemon } = await at.aServer([L4]);
    const endpoint = await at.deploy({ instanceRef: { id } });
    daemon.applyDesired(await daemon.desired(({ containers }) => containers.length > 0));
    await expect.poll(async () => (await at.view(endpoint.id)).status).toBe('loading');
    await at.alice.client(api.modelEndpoints.delete, { id: endpoint.id });
    await expect(at.view(endpoint.id)).rejects.toMatchObject({ status: 404 });
    expect((await at.container(endpoint.container!.id)).status).toBe('terminating');
    expect((await at.alice.client(api.instances.view, { id })).entity.status).toBe('online');
  });
});

describe('a model on an own server', () => {
  it('keeps weights below the folder that the policy of an own server names', async () => {
    const id = await aSelfHostedServer(at.app.ctx, at.alice);
    const facts = { gpus: [L4], cpus: 8, ramBytes: 32 * 2 ** 30, volumeRoots: ['/srv/stagi'] };
    await at.join(id, facts, 'self-hosted');
    const { container: made } = await at.deploy({ instanceRef: { id } });
    expect((await at.container(made!.id)).directoryMappings).toMatchObject([{ host: '/srv/stagi/models' }]);
    const rented = await at.aServer([L4]);
    const { container: other } = await at.deploy({ instanceRef: { id: rented.id } });
    expect((await at.container(other!.id)).directoryMappings).toMatchObject([{ host: '/data/models' }]);
  });
});
