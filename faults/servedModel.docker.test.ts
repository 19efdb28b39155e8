import { api } from '@stagi/contract/api.ts';
import type { EndpointStatus } from '@stagi/contract/modelEndpoints.ts';
import { createDaemon, type TestDaemon } from '@stagi/daemon/src/testing/daemon.ts';
import { ensureEngineImage } from '@stagi/daemon/src/testing/engine/engineImage.ts';
import { docker } from '@stagi/daemon/src/testing/image.ts';
import { type Arrived, answerOf, askerOf, askModel } from '@stagi/server/src/testing/askModel.ts';
import { anApiToken } from '@stagi/server/src/testing/factories.ts';
import type { Person } from '@stagi/server/src/testing/person.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ModelLab, startModelLab, TINY_FILES } from './modelLab.ts';
import { until } from './until.ts';

/** Slow, so that an answer is under way for seconds. */
const CPUS = 0.3;
const PROMPT = 'Tell me of the canary by the river.';
const LONG = 900;

let image: string;
let lab: ModelLab;
let daemon: TestDaemon;
let serverId: number;
let id: number;
let containerId: number;
let port: number;

beforeAll(async () => {
  image = await ensureEngineImage();
  lab = await startModelLab({ LOG_LEVEL: 'debug' });
  const server = await lab.ownServer();
  serverId = server.id;
  daemon = await createDaemon({ node: String(serverId), token: async () => server.token });
  daemon.start();
  await until('the server is online', async () => {
    const { entity } = await lab.owner.client(api.selfHosted.view, { id: serverId });
    return entity.status === 'online';
  });
}, 120_000);
afterAll(async () => {
  await daemon?.cleanUp();
  await lab?.close();
});

const asked = (maxTokens: number, content = PROMPT) => ({
  endpointRef: { id },
  messages: [{ role: 'user' as const, content }],
  maxTokens,
});
const ask = (maxTokens: number, person: Person = lab.owner) =>
  answerOf(askerOf(lab.platform.url, person), asked(maxTokens));
const textsOf = (events: Arrived[]) => events.filter(({ type }) => type === 'text');
const isReady = () => until('it is ready', async () => (await lab.check(id)).status === 'ready', 60_000, 200);

async function engine() {
  const label = Object.entries(daemon.labels).map(([name, value]) => `${name}=${value}`);
  const [found] = await docker.listContainers({ all: true, filters: { label } });
  return docker.getContainer(found!.Id);
}
const engineLog = async () => (await (await engine()).logs({ stdout: true, stderr: true })).toString();

/** The statuses that it goes through until it has the last one, each once. */
async function statusesUntil(last: EndpointStatus): Promise<EndpointStatus[]> {
  const seen: EndpointStatus[] = [];
  await until(`it is ${last}`, async () => {
    const { status } = await lab.check(id);
    if (seen.at(-1) !== status) seen.push(status);
    return status === last;
  });
  return seen;
}

it('is deployed by one call, and is ready once its engine has loaded it', async () => {
  const begun = performance.now();
  const endpoint = await lab.deploy(serverId, { cpus: CPUS, dockerImage: image, token: 'hf_canary_of_the_hub' });
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
  const seen = await statusesUntil('ready');
  console.log(`served model: ready after ${((performance.now() - begun) / 1000).toFixed(1)} s, n = 1`);
  expect(seen).toEqual(['creating', 'loading', 'ready']);
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
  expect(await engineLog()).toContain(`length, ${LONG} tokens`);
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
  const lines = (await engineLog()).split('\n');
  const beganSecond = lines.findIndex((line) => /slot launch.* at most 40 more/.test(line));
  const endedFirst = lines.findIndex((line) => line.includes(`length, ${LONG - 1} tokens`));
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

it('ends an answer within 2 s of a sign-out, of the removal of its reader, and of the loss of the right to it', async () => {
  const asMember = async (name: string) => {
    const member = await lab.signUp(name);
    await lab.pool.db
      .insertInto('membership')
      .values({ workspace_id: lab.owner.workspaceId, user_id: member.userId, role: 'Developer' })
      .execute();
    member.useWorkspace(lab.owner.workspaceId);
    return member;
  };
  const endings: [string, (member: Person) => Promise<unknown>][] = [
    ['Bob', (member) => member.client(api.auth.logout, { refreshToken: member.tokens().refreshToken })],
    ['Cem', ({ userId }) => lab.owner.client(api.clients.removeMember, { userId })],
    ['Dan', ({ userId }) => lab.owner.client(api.clients.editMember, { userId, role: 'Guest' })],
  ];
  const took: number[] = [];
  for (const [name, end] of endings) {
    const member = await asMember(name);
    let endedAt = 0;
    let last: Arrived | undefined;
    for await (const event of askModel(askerOf(lab.platform.url, member), asked(LONG))) {
      last = event;
      if (endedAt > 0) continue;
      endedAt = performance.now();
      await end(member);
    }
    took.push(performance.now() - endedAt);
    expect(last!.type, name).not.toBe('end');
    await expect(ask(1, member), name).rejects.toThrow();
  }
  console.log(`served model: answers ended ${took.map((ms) => ms.toFixed(0)).join(', ')} ms after, n = ${took.length}`);
  expect(Math.max(...took)).toBeLessThan(2_000);
});

it('is as it was after a restart of the platform, which ends open answers', async () => {
  const before = await lab.view(id);
  const events: Arrived[] = [];
  let stopped: Promise<unknown> | null = null;
  let ms = 0;
  for await (const event of askModel(askerOf(lab.platform.url, lab.owner), asked(LONG))) {
    events.push(event);
    if (stopped) continue;
    const begun = performance.now();
    stopped = lab.platform.stop().then(() => {
      ms = performance.now() - begun;
    });
  }
  await stopped;
  expect(events.at(-1)).toMatchObject({ type: 'error' });
  console.log(`served model: platform stopped in ${ms.toFixed(0)} ms with an open answer, n = 1`);
  expect(ms).toBeLessThan(4_000);
  await lab.platform.start();
  await isReady();
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
  await until('it is seen', async () => (await lab.check(id)).status === 'failed', 60_000);
  expect(await lab.view(id)).toMatchObject({ reason: 'It ended with exit code 137' });
  await expect(ask(5)).rejects.toMatchObject({ body: { message: 'Its container does not run' } });
  await lab.owner.client(api.containers.start, { id: containerId });
  await isReady();
});

it('is refused while its container is stopped, and loads again when it is started', async () => {
  await lab.owner.client(api.containers.stop, { id: containerId });
  await until('it is stopped', async () => (await lab.check(id)).container?.status === 'stopped');
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
    'the log of the daemon': daemon.output(),
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
  const label = Object.entries(daemon.labels).map(([name, value]) => `${name}=${value}`);
  await until('the container is gone', async () => {
    const left = await docker.listContainers({ all: true, filters: { label } });
    return left.length === 0;
  });
});
