import { hostConfigOf, PRIVATE_ADDRESS } from '@stagi/contract/hostConfig.ts';
import { freePort } from '@stagi/contract/testing/freePort.ts';
import type Docker from 'dockerode';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { containerOptions } from '../../containerSpec.ts';
import { container as desired } from '../daemon.ts';
import { docker } from '../image.ts';
import { ENGINE_PORT, ENGINE_REPOSITORY, ensureEngineImage, MODEL_PATH } from './engineImage.ts';
import { TINY_MODEL } from './tinyModel.ts';

const KEY = 'a-key-of-this-test';
const MESSAGES = [{ role: 'user', content: 'Tell me of the river and the mountain.' }];
const LONG = 4000;
/** The window in which prompt and answer must fit. */
const CONTEXT = TINY_MODEL.contextLength;

interface Chunk {
  choices: { delta: { role?: string; content?: string | null }; finish_reason: string | null }[];
  usage?: { prompt_tokens: number; completion_tokens: number; total_tokens: number };
  timings?: { predicted_per_second: number };
}

let image: string;
let port: number;
let running: Docker.Container;

/** With the options and limits that the daemon gives a container of a user, and the command that a user writes. */
async function startEngine(id: number, more: string[] = []): Promise<{ one: Docker.Container; port: number }> {
  const host = await freePort();
  const target = desired(id, '', {
    spec: {
      image,
      command: ['--host', '0.0.0.0', '--port', String(ENGINE_PORT), ...more],
      env: [{ name: 'LLAMA_API_KEY', value: KEY, secret: true }],
      nanoCpus: 1e9,
      memoryBytes: 512 * 2 ** 20,
      ports: [{ host, container: ENGINE_PORT, public: false }],
    },
  });
  const owner = { platform: 'test-engine', node: '1' };
  const one = await docker.createContainer(containerOptions(target, owner, hostConfigOf(target.spec, PRIVATE_ADDRESS)));
  await one.start();
  return { one, port: host };
}

const url = (path: string) => `http://${PRIVATE_ADDRESS}:${port}${path}`;
const post = (body: object, { key = KEY, signal }: { key?: string; signal?: AbortSignal } = {}) =>
  fetch(url('/v1/chat/completions'), {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ messages: MESSAGES, ...body }),
    signal,
  });

async function complete(body: object) {
  const response = await post(body);
  expect(response.status).toBe(200);
  return (await response.json()) as {
    choices: { message: { content: string }; finish_reason: string }[];
    usage: NonNullable<Chunk['usage']>;
  };
}

/** The chunks of a streamed answer, each with the time at which it arrived. */
async function* streamed(response: Response): AsyncGenerator<{ at: number; chunk: Chunk | 'done' }> {
  let rest = '';
  for await (const part of response.body!.pipeThrough(new TextDecoderStream())) {
    const at = performance.now();
    const events = (rest + part).split('\n\n');
    rest = events.pop()!;
    for (const event of events) {
      expect(event).toMatch(/^data: /);
      const data = event.slice('data: '.length);
      yield { at, chunk: data === '[DONE]' ? 'done' : (JSON.parse(data) as Chunk) };
    }
  }
  expect(rest).toBe('');
}

/** Of the health check; null until the server listens. */
const statusOf = (port: number) =>
  fetch(`http://${PRIVATE_ADDRESS}:${port}/health`).then(
    ({ status }) => status,
    () => null,
  );

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

async function logOf(one: Docker.Container): Promise<string> {
  return (await one.logs({ stdout: true, stderr: true })).toString();
}

beforeAll(async () => {
  const start = performance.now();
  image = await ensureEngineImage();
  const { Size } = await docker.getImage(image).inspect();
  console.log(
    `${image}: ${Math.round(Size / 1e6)} MB, there after ${Math.round(performance.now() - start)} ms (n = 1)`,
  );
  ({ one: running, port } = await startEngine(1));
});
afterAll(() => running?.remove({ force: true }));

describe('the engine image', () => {
  it('is built once for its contents', async () => {
    const idOf = async () => (await docker.getImage(image).inspect()).Id;
    const before = await idOf();
    expect(await ensureEngineImage()).toBe(image);
    expect(await idOf()).toBe(before);
    expect(image).toMatch(new RegExp(`^${ENGINE_REPOSITORY}:[0-9a-f]{12}$`));
  });

  it('loads its model and answers the health check', async () => {
    const seen = new Set<number>();
    const health = async () => {
      // No answer at all until the server listens.
      const response = await fetch(url('/health')).catch(() => null);
      if (!response) return null;
      seen.add(response.status);
      return { status: response.status, body: await response.json() };
    };
    await expect.poll(health).toEqual({ status: 200, body: { status: 'ok' } });
    expect([...seen].filter((status) => ![200, 503].includes(status))).toEqual([]);
    await expect.poll(() => logOf(running)).toMatch(/loading model.*100 %.*model loaded in \d+ ms/s);

    const models = (await (await fetch(url('/v1/models'))).json()) as { data: { id: string; object: string }[] };
    expect(models.data.map(({ id, object }) => ({ id, object }))).toEqual([{ id: TINY_MODEL.name, object: 'model' }]);
  });
});

describe('a chat', () => {
  beforeEach(() => expect.poll(() => statusOf(port)).toBe(200));

  it('is streamed token by token, with as many chunks as tokens', async () => {
    const speeds: number[] = [];
    for (let run = 0; run < 3; run++) {
      const asked = { stream: true, stream_options: { include_usage: true }, max_tokens: 200, seed: run };
      const response = await post(asked);
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toContain('text/event-stream');
      const events = await all(streamed(response));
      expect(events.at(-1)!.chunk).toBe('done');
      const chunks = events.flatMap(({ chunk }) => (chunk === 'done' ? [] : [chunk]));
      const texts = events.filter(({ chunk }) => chunk !== 'done' && chunk.choices[0]?.delta.content);
      const { usage, timings } = chunks.at(-1)!;

      expect(chunks[0]!.choices[0]!.delta.role).toBe('assistant');
      expect(texts.length).toBe(200);
      expect(new Set(texts.map(({ at }) => at)).size).toBeGreaterThan(10);
      expect(chunks.flatMap(({ choices }) => choices[0]?.finish_reason ?? [])).toEqual(['length']);
      expect(chunks.at(-1)!.choices).toEqual([]);
      expect(usage!.completion_tokens).toBe(texts.length);
      expect(usage!.total_tokens).toBe(usage!.prompt_tokens + usage!.completion_tokens);
      speeds.push((1000 * (texts.length - 1)) / (texts.at(-1)!.at - texts[0]!.at));
      expect(timings!.predicted_per_second).toBeGreaterThan(0);
    }
    console.log(`tokens/s: ${speeds.map((speed) => speed.toFixed(0)).join(', ')} (n = ${speeds.length} chats of 200)`);
  });

  it('has the same answer for the same seed, streamed or not, alone or beside others', async () => {
    const asked = { max_tokens: 120, seed: 42, temperature: 0.9 };
    const alone = await complete(asked);
    const text = alone.choices[0]!.message.content;
    expect(alone.choices[0]!.finish_reason).toBe('length');
    expect(alone.usage.completion_tokens).toBe(120);
    // Words, punctuation and spaces.
    expect(text).toMatch(/^[a-z., ]+$/);
    expect(text.split(' ').length).toBeGreaterThan(60);

    const parts: string[] = [];
    for await (const { chunk } of streamed(await post({ ...asked, stream: true })))
      if (chunk !== 'done') parts.push(chunk.choices[0]!.delta.content ?? '');
    expect(parts.join('')).toBe(text);

    const seeds = [42, 1, 42, 2, 3, 42];
    const together = await Promise.all(seeds.map((seed) => complete({ ...asked, seed })));
    const answers = together.map(({ choices }) => choices[0]!.message.content);
    expect(answers.filter((_, at) => seeds[at] === 42)).toEqual([text, text, text]);
    expect(new Set(answers).size).toBe(4);
  });

  it('takes any text, and counts its tokens', async () => {
    const tokensOf = async (content: unknown) =>
      (await complete({ max_tokens: 1, messages: [{ role: 'user', content }] })).usage.prompt_tokens;
    const empty = await tokensOf('');
    // One token for the space before a text, then one for each byte that is no character of the vocabulary.
    expect(await tokensOf('😀')).toBe(empty + 1 + 4);
    expect(await tokensOf('河')).toBe(empty + 1 + 3);
    expect(await tokensOf('river')).toBe(empty + 1);
    expect(await tokensOf([{ type: 'text', text: 'river' }])).toBe(empty + 1);
  });

  it('stops when the client is gone', async () => {
    const client = new AbortController();
    const response = await post({ stream: true, max_tokens: LONG, seed: 5 }, { signal: client.signal });
    let count = 0;
    await expect(async () => {
      for await (const { chunk } of streamed(response))
        if (chunk !== 'done' && chunk.choices[0]!.delta.content && ++count === 20) client.abort();
    }).rejects.toThrow('abort');
    const cancelled = async () =>
      Number(/cancel chat \d+: the client is gone, (\d+) tokens/.exec(await logOf(running))?.[1]);
    await expect.poll(cancelled).toBeGreaterThanOrEqual(20);
    expect(await cancelled()).toBeLessThan(LONG / 2);
    console.log(`${await cancelled()} of ${LONG} tokens were generated for a client that left after ${count} (n = 1)`);
    // Its slot is free again.
    await Promise.all(Array.from({ length: 5 }, () => complete({ max_tokens: 2 })));
  });

  it('is refused without the key, while the health check needs none', async () => {
    for (const key of ['', 'another-key', `${KEY}x`]) {
      const response = await post({ max_tokens: 1 }, { key });
      expect(response.status).toBe(401);
      expect(await response.json()).toEqual({
        error: { code: 401, message: 'Invalid API Key', type: 'authentication_error' },
      });
    }
    expect((await fetch(url('/health'))).status).toBe(200);
  });

  it.each([
    [{ messages: [] }, '"messages" must be an array with at least one message'],
    [{ messages: [{ role: 'user', content: 5 }] }, 'the "content" of a message must be a text or an array of parts'],
    [{ temperature: 'hot' }, '"temperature" must be a number from 0 up'],
    [{ top_p: 2 }, '"top_p" must be a number from 0 to 1'],
    [{ messages: [{ role: 'user', content: 'x '.repeat(CONTEXT) }] }, 'the request exceeds the available context size'],
  ])('is refused when it makes no sense: %o', async (body, message) => {
    const response = await post(body);
    expect(response.status).toBe(400);
    expect(((await response.json()) as { error: { message: string } }).error.message).toContain(message);
  });

  it('ends where the context is full', async () => {
    const { choices, usage } = await complete({ messages: [{ role: 'user', content: 'x '.repeat(1900) }] });
    expect(usage.total_tokens).toBe(CONTEXT);
    expect(choices[0]!.finish_reason).toBe('length');
  });
});

describe('the server', () => {
  it('ends at once when it is told to, also within a chat', async () => {
    await expect.poll(() => statusOf(port)).toBe(200);
    const response = await post({ stream: true, max_tokens: LONG });
    const chunks = streamed(response);
    await chunks.next();
    const start = performance.now();
    await running.stop({ t: 10 });
    const { State } = await running.inspect();
    console.log(`stopped within a chat after ${Math.round(performance.now() - start)} ms (n = 1)`);
    expect(State).toMatchObject({ ExitCode: 0, OOMKilled: false });
    expect(performance.now() - start).toBeLessThan(5000);
    await expect(all(chunks)).rejects.toThrow();
  });

  it('finds its model by the name of a repository', async () => {
    const { one, port } = await startEngine(2, ['-hf', `stagi/${TINY_MODEL.name}-GGUF:F32`, '-ngl', '99', '-np', '2']);
    try {
      await expect.poll(() => statusOf(port)).toBe(200);
      expect(await logOf(one)).toContain(`loading model ${MODEL_PATH}`);
    } finally {
      await one.remove({ force: true });
    }
  });

  it.each([
    [['-m', '/models/none.gguf'], "ENOENT: no such file or directory, open '/models/none.gguf'"],
    [['-m', '/engine/server.ts'], '/engine/server.ts is no GGUF file'],
    [['--port', 'x'], '--port must be a whole number'],
    [['-hf', 'org/model-GGUF:Q4_K_M'], 'org/model-GGUF:Q4_K_M is not here, and this server downloads nothing'],
    [['--modle', 'x'], "Unknown option '--modle'"],
  ])('says why it does not start with %o', async (options, reason) => {
    const { one } = await startEngine(2, options);
    try {
      const { StatusCode } = (await one.wait()) as { StatusCode: number };
      expect(StatusCode).toBe(1);
      expect(await logOf(one)).toContain(reason);
    } finally {
      await one.remove({ force: true });
    }
  });
});
