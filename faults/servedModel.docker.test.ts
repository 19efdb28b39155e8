import { api } from '@stagi/contract/api.ts';
import type { EndpointStatus } from '@stagi/contract/modelEndpoints.ts';
import { docker } from '@stagi/daemon/src/testing/image.ts';
import { type Arrived, answerOf, askerOf, askModel } from '@stagi/server/src/testing/askModel.ts';
import { anApiToken } from '@stagi/server/src/testing/factories.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stopDuringAnswer, takeRightsToAnswers } from './endedAnswers.ts';
import { TINY_FILES } from './modelLab.ts';
import { questionOf, type ServedModelLab, startServedModelLab } from './servedModel.ts';
import { until } from './until.ts';

/** Tokens of an answer that is under way for seconds. */
const LONG = 900;

let lab: ServedModelLab;
let id: number;
let containerId: number;
let port: number;

beforeAll(async () => {
  lab = await startServedModelLab();
}, 120_000);
afterAll(() => lab?.close());

const asked = (maxTokens: number, content?: string) => questionOf(id, maxTokens, content);
const ask = (maxTokens: number) => answerOf(askerOf(lab.platform.url, lab.owner), asked(maxTokens));
const textsOf = (events: Arrived[]) => events.filter(({ type }) => type === 'text');

async function engine() {
  const label = Object.entries(lab.daemon.labels).map(([name, value]) => `${name}=${value}`);
  const [found] = await docker.listContainers({ all: true, filters: { label } });
  return docker.getContainer(found!.Id);
}
const engineLog = async () => (await (await engine()).logs({ stdout: true, stderr: true })).toString();

/** The statuses that it goes through until it has the last one, each once. */
async function statusesUntil(last: EndpointStatus): Promise<EndpointStatus[]> {
  const seen: EndpointStatus[] = [];
  await until(`it is ${last}`, async () => {
    const { status } = await lab.view(id);
    if (seen.at(-1) !== status) seen.push(status);
    return status === last;
  });
  return seen;
}

it('is deployed by one call, and is ready once its engine has loaded it', async () => {
  const endpoint = await lab.serve();
  id = endpoint.id;
  containerId = endpoint.container!.id;
  port = endpoint.port;
  expect(endpoint).toMatchObject({
    status: 'creating',
    repository: TINY_FILES,
    variant: 'Q8_0',
    gpuCount: 0,
    hasKey: true,
  });
  expect(await statusesUntil('ready')).toEqual(['creating', 'loading', 'ready']);
  expect(await engineLog()).toContain('model loaded');
  expect((await lab.view(id)).answeredAt).not.toBeNull();
});

it('has a key that its engine asks for, and answers nobody without it', async () => {
  const { key } = await lab.owner.client(api.modelEndpoints.revealKey, { id });
  const post = (authorization: string) =>
    fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ messages: [{ role: 'user', content: 'Hello' }], max_tokens: 2 }),
    });
  expect((await post(`Bearer ${key}`)).status).toBe(200);
  expect((await post('Bearer sk-wrong')).status).toBe(401);
  expect((await post('')).status).toBe(401);
});

it('streams an answer token by token, with the counts of the engine', async () => {
  const events: Arrived[] = [];
  for await (const event of askModel(askerOf(lab.platform.url, lab.owner), asked(LONG))) {
    // It comes while the engine goes on.
    if (events.length === 0) expect(await engineLog()).not.toContain(`length, ${LONG} tokens`);
    events.push(event);
  }
  const texts = textsOf(events);
  expect(events.at(-1)).toMatchObject({ type: 'end', reason: 'length', answerTokens: LONG });
  expect(texts.length).toBe(LONG);
  expect((events.at(-1) as { promptTokens: number }).promptTokens).toBeGreaterThan(5);
  expect(texts.map((event) => (event.type === 'text' ? event.text : '')).join('')).toMatch(/^[a-z., ]+$/);
  // It writes so after its last token.
  await until(
    'the engine has logged its end',
    async () => (await engineLog()).includes(`length, ${LONG} tokens`),
    60_000,
  );
});

it('answers two at once, a session and an API token, and each as long as was asked', async () => {
  const { token } = await anApiToken(lab.pool as never, lab.owner, { permissions: ['PROJECT_MANAGEMENT'] });
  const byToken = { url: lab.platform.url, headers: { authorization: `Bearer ${token}` } };
  const one = askModel(askerOf(lab.platform.url, lab.owner), asked(LONG - 1));
  await one.next();
  const two = await answerOf(byToken, asked(40));
  expect(textsOf(two.events).length).toBe(40);
  let texts = 1;
  for await (const { type } of one) texts += type === 'text' ? 1 : 0;
  expect(texts).toBe(LONG - 1);
  const endOfFirst = `length, ${LONG - 1} tokens`;
  await until('the engine has logged its end', async () => (await engineLog()).includes(endOfFirst), 60_000);
  const lines = (await engineLog()).split('\n');
  const beganSecond = lines.findIndex((line) => /slot launch.* at most 40 more/.test(line));
  const endedFirst = lines.findIndex((line) => line.includes(endOfFirst));
  expect(beganSecond).toBeGreaterThan(0);
  expect(beganSecond).toBeLessThan(endedFirst);
});

it('stops the engine when its reader goes away, before the first token and after', async () => {
  const cancels = async () => [...(await engineLog()).matchAll(/srv {2}stop: cancel chat/g)].length;
  let before = await cancels();
  for await (const event of askModel(askerOf(lab.platform.url, lab.owner), asked(LONG)))
    if (event.type === 'text') break;
  await until('the engine has stopped', async () => (await cancels()) === before + 1, 60_000);
  before = await cancels();
  const launched = async () => [...(await engineLog()).matchAll(/slot launch/g)].length;
  const already = await launched();
  const gone = new AbortController();
  const long = askModel(askerOf(lab.platform.url, lab.owner), asked(LONG, 'word '.repeat(600)), {
    signal: gone.signal,
  }).next();
  const ended = expect(long).rejects.toThrow();
  await until('the engine reads the prompt', async () => (await launched()) === already + 1, 60_000, 20);
  gone.abort();
  await ended;
  await until('the engine has stopped', async () => (await cancels()) === before + 1, 60_000);
});

it('ends an answer upon a sign-out, the removal of its reader, and the loss of the right to it', async () => {
  expect(await takeRightsToAnswers(lab, id)).toHaveLength(3);
});

it('is as it was after a restart of the platform, which ends open answers', async () => {
  const before = await lab.view(id);
  await stopDuringAnswer(lab, id);
  const startedAt = Date.now();
  await lab.platform.start();
  await until('it was asked again', async () => Date.parse((await lab.view(id)).checkedAt!) > startedAt);
  await lab.isReady(id);
  const { checkedAt: _, answeredAt: __, since: ___, instance: ____, ...now } = await lab.view(id);
  expect(before).toMatchObject(now);
  expect((await ask(5)).last).toMatchObject({ type: 'end', answerTokens: 5 });
});

it('says that an answer broke off when its engine is killed, and is ready again once that is back', async () => {
  let killed = false;
  let last: Arrived | undefined;
  for await (const event of askModel(askerOf(lab.platform.url, lab.owner), asked(LONG))) {
    last = event;
    if (!killed) await (await engine()).kill();
    killed = true;
  }
  expect(last).toMatchObject({ type: 'error', message: 'The answer broke off' });
  // `unless-stopped` does not bring back what was killed by hand.
  await until('it is seen', async () => (await lab.view(id)).status === 'failed', 60_000);
  expect(await lab.view(id)).toMatchObject({ reason: 'It ended with exit code 137' });
  await expect(ask(5)).rejects.toMatchObject({ body: { message: 'Its container does not run' } });
  await lab.owner.client(api.containers.start, { id: containerId });
  await lab.isReady(id);
});

it('is refused while its container is stopped, and loads again when it is started', async () => {
  await lab.owner.client(api.containers.stop, { id: containerId });
  await until('it is stopped', async () => (await lab.view(id)).container?.status === 'stopped');
  expect((await lab.view(id)).status).toBe('stopped');
  await expect(ask(5)).rejects.toMatchObject({ body: { message: 'Its container does not run' } });
  await lab.owner.client(api.containers.start, { id: containerId });
  expect(await statusesUntil('ready')).toEqual(expect.arrayContaining(['loading', 'ready']));
  expect((await ask(5)).last).toMatchObject({ type: 'end' });
});

it('keeps key, token and what was asked out of logs and audit', async () => {
  const { key } = await lab.owner.client(api.modelEndpoints.revealKey, { id });
  const { rows } = await sql<{ line: string }>`select detail::text as line from audit`.execute(lab.pool.db);
  const processes = await (await engine()).top();
  const texts = {
    'the log of the platform': lab.platform.log(),
    'the log of the daemon': lab.daemon.output(),
    'the log of the engine': await engineLog(),
    'the process list': JSON.stringify(processes),
    'the audit log': JSON.stringify(rows),
  };
  for (const [what, text] of Object.entries(texts)) {
    expect(text.length, what).toBeGreaterThan(20);
    for (const secret of [key, 'hf_canary_of_the_hub', 'canary by the river']) expect(text, what).not.toContain(secret);
  }
});

it('is gone with its container when it is deleted', async () => {
  await lab.owner.client(api.modelEndpoints.delete, { id });
  await expect(lab.view(id)).rejects.toMatchObject({ status: 404 });
  await expect(ask(5)).rejects.toMatchObject({ status: 404 });
  const label = Object.entries(lab.daemon.labels).map(([name, value]) => `${name}=${value}`);
  await until('the container is gone', async () => {
    const left = await docker.listContainers({ all: true, filters: { label } });
    return left.length === 0;
  });
});
