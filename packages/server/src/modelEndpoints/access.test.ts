import { api } from '@stagi/contract/api.ts';
import { createClient } from '@stagi/contract/apiClient.ts';
import { engineTemplate, fillIn } from '@stagi/contract/engineTemplates.ts';
import type { Permission, Role } from '@stagi/contract/permissions.ts';
import { CatalogueModel } from '@stagi/perf/catalogue.ts';
import { models } from '@stagi/perf/catalogueFiles.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { splitCommand } from '../containers/splitCommand.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { aContainer, anApiToken, aRentedInstance, aSelfHostedServer } from '../testing/factories.ts';
import { aModelEndpoint } from '../testing/modelFactories.ts';
import { httpSender, type Person } from '../testing/person.ts';

let app: TestApp;
let ada: Person;
let own: number;
let rented: number;
let serverId: number;
beforeAll(async () => {
  app = await startTestApp({}, { role: 'api' });
  ada = await app.signUp('Ada');
  serverId = await aSelfHostedServer(app.ctx, ada);
  const rentedId = await aRentedInstance(app.ctx, ada);
  own = await aModelEndpoint(app.ctx, ada, {
    instanceId: serverId,
    containerId: await aContainer(app.ctx, ada, serverId),
  });
  rented = await aModelEndpoint(app.ctx, ada, {
    instanceId: rentedId,
    containerId: await aContainer(app.ctx, ada, rentedId),
  });
});
afterAll(() => app?.close());

type Client = Person['client'];

/** What each call answers: `done`, or status and message of its refusal. */
async function answersTo(client: Client, id: number) {
  const said = (made: Promise<unknown>) =>
    made.then(
      () => 'done',
      ({ status, message }: { status: number; message: string }) => (status === 200 ? message : status),
    );
  return {
    list: await client(api.modelEndpoints.list, {}).then(
      ({ entities }) => entities.map((entity) => entity.id).includes(id),
      ({ status }: { status: number }) => status,
    ),
    view: await said(client(api.modelEndpoints.view, { id })),
    check: await said(client(api.modelEndpoints.check, { id })),
    run: await said(
      client(api.modelEndpoints.run, { endpointRef: { id }, messages: [{ role: 'user', content: 'Hello' }] }),
    ),
    reveal: await said(client(api.modelEndpoints.revealKey, { id })),
    deploy: await said(
      client(api.modelEndpoints.deploy, {
        modelRef: { id: 'Qwen/Qwen3-0.6B' },
        quality: 'original',
        template: 'vllm',
        instanceRef: { id: serverId },
        title: 'A model',
        slug: 'a-model',
        cpus: 1,
        port: 8000,
      }),
    ),
    delete: await said(client(api.modelEndpoints.delete, { id })),
  };
}

async function byToken(permissions: Permission[]): Promise<Client> {
  const { token } = await anApiToken(app.ctx, ada, { permissions });
  const send = httpSender(app.url);
  return createClient({
    send: (path, body, options) =>
      send(path, body, { ...options, headers: { ...options.headers, authorization: `Bearer ${token}` } }),
    session: { get: () => null, set: () => {} },
    clientId: () => ada.workspaceId,
  });
}

/** Asked and refused: its server has no link. */
const UNREACHABLE = 'Its server cannot be reached';
const OFFLINE = 400;

describe('who may do what with a served model', () => {
  it('who may manage projects alone asks it, and changes nothing', async () => {
    const client = await byToken(['PROJECT_MANAGEMENT']);
    for (const id of [own, rented])
      expect(await answersTo(client, id)).toEqual({
        ...{ list: true, view: 'done', check: 'done', run: UNREACHABLE },
        ...{ reveal: 403, deploy: 403, delete: 403 },
      });
  });

  it('who may manage servers of one kind sees and changes those on them', async () => {
    const ofOwn = await byToken(['SELFHOSTED_INSTANCE_MANAGEMENT']);
    expect(await answersTo(ofOwn, rented)).toEqual({
      ...{ list: false, view: 404, check: 404, run: 404 },
      // A token reveals no key, whatever it may do.
      ...{ reveal: 403, deploy: OFFLINE, delete: 404 },
    });
    const ofRented = await byToken(['INSTANCE_RENTED_MANAGEMENT']);
    expect(await answersTo(ofRented, own)).toMatchObject({
      list: false,
      view: 404,
      run: 404,
      deploy: 404,
      delete: 404,
    });
  });

  it.each<[Role, number]>([
    ['Guest', 403],
    ['Billing', 403],
  ])('a %s is refused everything', async (role, status) => {
    const member = await app.signUp();
    await app.ctx.db
      .insertInto('membership')
      .values({ workspace_id: ada.workspaceId, user_id: member.userId, role })
      .execute();
    member.useWorkspace(ada.workspaceId);
    const answers = await answersTo(member.client, own);
    expect([...new Set(Object.values(answers))]).toEqual([status]);
  });

  it('the owner of another workspace finds nothing', async () => {
    const mallory = await app.signUp('Mallory');
    expect(await answersTo(mallory.client, own)).toEqual({
      ...{ list: false, view: 404, check: 404, run: 404 },
      ...{ reveal: 404, deploy: 404, delete: 404 },
    });
  });

  it('the owner reveals its key, which no answer of another call holds', async () => {
    const { key } = await ada.client(api.modelEndpoints.revealKey, { id: own });
    expect(key).toBe('sk-test');
    const { entity } = await ada.client(api.modelEndpoints.view, { id: own });
    expect(JSON.stringify([entity, await ada.client(api.modelEndpoints.list, {})])).not.toContain(key);
  });
});

describe('what stands in the command of an engine', () => {
  const entry = models.find(({ precisions }) => precisions.some(({ precision }) => precision === 'gguf'))!;
  const withFile = (file: object) =>
    CatalogueModel.safeParse({ ...entry, precisions: [{ precision: 'gguf', repository: 'a/b', ...file }] }).success;

  it.each([
    '-a/b',
    '--api-key/b',
    'a/b c',
    'a/b"; reboot; "',
    "a/b'",
    'a/$(reboot)',
    'a/`reboot`',
    'a/b|c',
    'a/b\nc',
    'a/{variant}',
    'a/b:c',
    'a/../b',
    '/b',
    'a/',
  ])('is no repository like %j', (repository) => {
    expect(withFile({ repository })).toBe(false);
    expect(CatalogueModel.safeParse({ ...entry, id: repository }).success).toBe(false);
  });

  it.each(['Q8_0 --api-key x', '-Q8_0', 'Q8_0"', '$(id)', ''])('is no file like %j', (file) => {
    expect(withFile({ variants: [file] })).toBe(false);
    expect(withFile({ filesGB: { [file]: 1 } })).toBe(false);
  });

  it('is one word for each place, and the key of SGLang is in none', () => {
    const served = { repository: 'Org/Model', variant: 'Q8_0', context: 4096, gpus: 2 };
    const words = splitCommand(fillIn(engineTemplate('sglang').command!, served));
    expect(words.slice(0, 2)).toEqual(['python3', '-c']);
    expect(words.slice(3)).toEqual(
      '--model-path Org/Model --context-length 4096 --tp 2 --host 0.0.0.0 --port 30000'.split(' '),
    );
    // The code reads the variable: what it holds is no argument of a process.
    expect(words[2]).toContain("os.environ['SGLANG_API_KEY']");
    expect(words.join(' ')).not.toContain('$');
  });
});
