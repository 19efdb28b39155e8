import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { api } from '@stagi/contract/api.ts';
import { EDIT_FEATURE } from '@stagi/contract/daemon.ts';
import { STREAMS_FEATURE } from '@stagi/contract/daemonStreams.ts';
import type { ModelEndpoint } from '@stagi/contract/modelEndpoints.ts';
import { answerOf, askerOf } from '@stagi/server/src/testing/askModel.ts';
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
const check = () => lab.check(endpoint.id);

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
  expect(await check()).toMatchObject({ status: 'loading', reason: 'The engine is fetching its model' });
  await expect.poll(() => ollama.pulls).toEqual([{ model: NAME, stream: false }]);
  await Promise.all([check(), check()]);
  expect(ollama.pulls.length).toBe(1);
  endPull(500, { error: 'pull model manifest: 401 \u001b[31m<b>' });
  const told = 'The engine could not fetch its model: pull model manifest: 401 \u001b[31m<b>';
  await expect.poll(async () => (await check()).reason).toBe(told);
  await expect.poll(() => ollama.pulls.length).toBe(2);
  expect(await check()).toMatchObject({ status: 'loading', reason: 'The engine is fetching its model' });
});

it('is ready once its list has the model, and not any more when that is gone', async () => {
  ollama.models.push('hf.co/other/model:Q8_0', `${NAME}_K`);
  expect((await check()).status).toBe('loading');
  ollama.models.push(NAME);
  endPull(200, { status: 'success' });
  expect(await check()).toMatchObject({ status: 'ready', reason: null });
  ollama.models.length = 0;
  expect(await check()).toMatchObject({ status: 'not answering', reason: 'The engine is fetching its model' });
  await expect.poll(() => ollama.pulls.length).toBe(3);
});

it('asks anew when the engine has gone away meanwhile', async () => {
  engine.closeAllConnections();
  await expect.poll(async () => (await check()).reason).toMatch(/^The engine could not fetch its model: The /);
  await expect.poll(() => ollama.pulls.length).toBe(4);
  ollama.models.push(NAME);
  endPull(200, { status: 'success' });
  await expect.poll(async () => (await check()).status).toBe('ready');
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
