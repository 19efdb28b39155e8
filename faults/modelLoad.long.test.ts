import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { api } from '@stagi/contract/api.ts';
import { EDIT_FEATURE } from '@stagi/contract/daemon.ts';
import { STREAMS_FEATURE } from '@stagi/contract/daemonStreams.ts';
import type { ModelEndpoint } from '@stagi/contract/modelEndpoints.ts';
import { answerOf, askerOf } from '@stagi/server/src/testing/askModel.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ModelLab, startModelLab, TINY_FILES } from './modelLab.ts';
import { joinPortDaemon, type PortDaemon } from './portDaemon.ts';
import { portOf } from './portLab.ts';
import { until } from './until.ts';

const PORT = 11_434;
const NAME = `hf.co/${TINY_FILES}:Q8_0`;

/** What Ollama has and is asked: https://docs.ollama.com/api */
const ollama = { models: [] as string[], pulls: [] as unknown[] };
/** Chats that are never answered. */
const chats = new Set<ServerResponse>();
/** Ends the pull that goes on. */
let endPull: (status: number, body: object) => void;
const engine = createServer(async (asked, answer) => {
  const json = (status: number, body: object) => answer.writeHead(status).end(JSON.stringify(body));
  let body = '';
  for await (const part of asked) body += part;
  if (asked.url === '/api/version') return json(200, { version: '0.11.10' });
  if (asked.url === '/v1/models') return json(200, { data: ollama.models.map((id) => ({ id })) });
  if (asked.url === '/v1/chat/completions') return chats.add(answer.once('close', () => chats.delete(answer)));
  if (asked.url !== '/api/pull') return json(404, { error: 'not found' });
  ollama.pulls.push(JSON.parse(body));
  endPull = json;
});

let lab: ModelLab;
let daemon: PortDaemon;
let endpoint: ModelEndpoint;
/** Nothing here asks for a check: a worker looks after served models. */
const view = () => lab.view(endpoint.id);
const becomes = (shown: Partial<ModelEndpoint>) => expect.poll(view).toMatchObject(shown);

beforeAll(async () => {
  engine.listen(0, '127.0.0.1');
  await once(engine, 'listening');
  lab = await startModelLab();
  const { id, token } = await lab.ownServer();
  daemon = await joinPortDaemon(lab.platform.url, token, [STREAMS_FEATURE, EDIT_FEATURE]);
  endpoint = await lab.deploy(id, { template: 'ollama', context: 2048 });
  daemon.link.applyDesired(await daemon.link.desired(({ containers }) => containers.length > 0));
  await until('its container runs', async () => (await lab.view(endpoint.id)).status === 'loading');
  daemon.bind(endpoint.container!.id, PORT, portOf(engine));
});
afterAll(async () => {
  await daemon?.close();
  engine.close();
  engine.closeAllConnections();
  await lab?.close();
});

it('has no key, and its context as a variable', async () => {
  expect(endpoint).toMatchObject({ hasKey: false, modelName: NAME });
  await expect(lab.owner.client(api.modelEndpoints.revealKey, { id: endpoint.id })).rejects.toThrow(
    'Its API has no key',
  );
  const { entity } = await lab.owner.client(api.containers.view, { id: endpoint.container!.id });
  expect(entity).toMatchObject({ command: null, envNames: ['OLLAMA_CONTEXT_LENGTH'], secretEnvNames: [] });
});

it('is made to fetch its model once, and again after a failure, whose reason it tells', async () => {
  await becomes({ status: 'loading', reason: 'The engine is fetching its model' });
  await expect.poll(() => ollama.pulls).toEqual([{ model: NAME, stream: false }]);
  // Whoever looks or asks begins no second one.
  await Promise.all([lab.check(endpoint.id), lab.check(endpoint.id), view()]);
  expect(ollama.pulls.length).toBe(1);
  endPull(500, { error: 'pull model manifest: 401 \u001b[31m<b>' });
  const told = 'The engine could not fetch its model: pull model manifest: 401 \u001b[31m<b>';
  await becomes({ status: 'loading', reason: told });
  await lab.passTime(endpoint.id, '1 minute');
  await expect.poll(() => ollama.pulls.length).toBe(2);
});

it('is made to fetch it again when the process that saw to it has died', async () => {
  await sql`update model_endpoint set load_lease = gen_random_uuid(), load_lease_until = now() - interval '1 second'
    where id = ${endpoint.id}`.execute(lab.pool.db);
  await expect.poll(() => ollama.pulls.length).toBe(3);
});

it('is ready once its list has the model, and not any more when that is gone', async () => {
  ollama.models.push('hf.co/other/model:Q8_0', `${NAME}_K`);
  expect((await lab.check(endpoint.id)).status).toBe('loading');
  ollama.models.push(NAME);
  endPull(200, { status: 'success' });
  await becomes({ status: 'ready', reason: null });
  ollama.models.length = 0;
  await lab.passTime(endpoint.id, '1 minute');
  await becomes({ status: 'not answering', reason: 'The engine is fetching its model' });
  await expect.poll(() => ollama.pulls.length).toBe(4);
});

it('asks anew when the engine has gone away meanwhile', async () => {
  engine.closeAllConnections();
  await expect.poll(async () => (await view()).reason).toMatch(/^The engine could not fetch its model: The /);
  await lab.passTime(endpoint.id, '1 minute');
  await expect.poll(() => ollama.pulls.length).toBe(5);
  ollama.models.push(NAME);
  endPull(200, { status: 'success' });
  await becomes({ status: 'ready' });
});

it('stays ready for a day that nobody looks at it, and is ready again after its engine was away', async () => {
  await lab.passTime(endpoint.id, '1 day');
  const before = Date.now();
  await expect.poll(async () => Date.parse((await view()).answeredAt!) > before).toBe(true);
  expect(await view()).toMatchObject({ status: 'ready', reason: null });
  daemon.bind(endpoint.container!.id, PORT, 0);
  await lab.passTime(endpoint.id, '1 day');
  await becomes({ status: 'not answering' });
  daemon.bind(endpoint.container!.id, PORT, portOf(engine));
  await lab.passTime(endpoint.id, '1 day');
  await becomes({ status: 'ready' });
});

it('fails when it has never answered in time, and is ready once it does', async () => {
  daemon.bind(endpoint.container!.id, PORT, 0);
  await sql`update model_endpoint set answered_at = null where id = ${endpoint.id}`.execute(lab.pool.db);
  await lab.passTime(endpoint.id, '3 hours');
  await becomes({ status: 'failed' });
  daemon.bind(endpoint.container!.id, PORT, portOf(engine));
  await lab.passTime(endpoint.id, '3 hours');
  await becomes({ status: 'ready' });
});

it('answers eight at once for a workspace, and the next when one has gone', async () => {
  const ask = (signal?: AbortSignal) =>
    answerOf(
      askerOf(lab.platform.url, lab.owner),
      { endpointRef: { id: endpoint.id }, messages: [{ role: 'user', content: 'Hello' }] },
      { signal },
    );
  const gone = Array.from({ length: 8 }, () => new AbortController());
  const asked = gone.map(({ signal }) => ask(signal).catch(() => 'gone'));
  await expect.poll(() => chats.size).toBe(8);
  await expect(ask()).rejects.toMatchObject({ status: 429 });
  expect(chats.size).toBe(8);
  gone[0]!.abort();
  await expect.poll(() => chats.size).toBe(7);
  const last = new AbortController();
  const next = ask(last.signal).catch(() => 'gone');
  await expect.poll(() => chats.size).toBe(8);
  for (const one of [...gone, last]) one.abort();
  await expect.poll(() => chats.size).toBe(0);
  expect(await Promise.all([...asked, next])).toEqual(Array(9).fill('gone'));
});
