import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { basename } from 'node:path';
import { ApiError, type ChatRequest, readChatRequest } from './chat.ts';
import { type Llama, loadLlama } from './llama.ts';
import { readOptions } from './options.ts';

/**
 * An HTTP server around llama.cpp with the options, variables, paths and answers of llama.cpp's own `llama-server`, as far
 * as a chat needs them: https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md
 */
const MAX_BODY_BYTES = 10 * 2 ** 20;

const log = (line: string) => process.stdout.write(`${line}\n`);
const options = readOptions(process.argv.slice(2), process.env, stop);
const modelName = options.alias ?? basename(options.model);
const created = Math.floor(Date.now() / 1000);
let llama: Llama | null = null;
let chats = 0;

function stop(reason: string): never {
  log(`error: ${reason}`);
  process.exit(1);
}

const server = createServer((request, response) => {
  const path = new URL(request.url ?? '/', 'http://server').pathname;
  response.on('close', () => {
    const answer = response.writableFinished ? response.statusCode : 'cut off by the client';
    log(`srv  done request: ${request.method} ${path} ${request.socket.remoteAddress ?? ''} ${answer}`);
  });
  void handle(request, response, path).catch((error: unknown) => {
    const known =
      error instanceof ApiError ? error : new ApiError(500, 'server_error', (error as Error).message ?? 'unknown');
    if (known.status === 500) log(`srv  error: ${(error as Error).stack}`);
    if (!response.headersSent) sendJson(response, known.status, known.body);
    else if (response.writable) response.end(`data: ${JSON.stringify(known.body)}\n\n`);
  });
});

async function handle(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
  const route = `${request.method} ${path.replace(/^\/v1\/health$/, '/health')}`;
  const isPublic = route === 'GET /health' || route === 'GET /v1/models';
  if (!isPublic && options.apiKey && request.headers.authorization !== `Bearer ${options.apiKey}`)
    throw new ApiError(401, 'authentication_error', 'Invalid API Key');
  if (!llama) {
    const loading = new ApiError(503, 'unavailable_error', 'Loading model');
    return sendJson(response, 503, {
      ...(route === 'GET /health' ? { status: 'loading model' } : {}),
      ...loading.body,
    });
  }
  if (route === 'GET /health') return sendJson(response, 200, { status: 'ok' });
  if (route === 'GET /v1/models') return sendJson(response, 200, { object: 'list', data: [modelFacts(llama)] });
  if (route === 'POST /v1/chat/completions') return chat(llama, request, response);
  throw new ApiError(404, 'not_found_error', 'File Not Found');
}

const modelFacts = ({ parameters, bytes, width, trainedContext }: Llama) => ({
  id: modelName,
  object: 'model',
  created,
  owned_by: 'llamacpp',
  meta: { n_params: parameters, size: bytes, n_embd: width, n_ctx_train: trainedContext },
});

async function chat(llama: Llama, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const asked = readChatRequest(await bodyOf(request), llama);
  const number = ++chats;
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  log(`slot launch: chat ${number}: prompt ${asked.prompt.length} tokens, at most ${asked.most} more`);

  const answer = { id: `chatcmpl-${randomUUID()}`, created: Math.floor(Date.now() / 1000), model: modelName };
  const chunk = (delta: object, finish: string | null = null) => ({
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...answer,
    object: 'chat.completion.chunk',
  });
  const send = async (event: object) => {
    if (!response.write(`data: ${JSON.stringify(event)}\n\n`)) await once(response, 'drain', { signal: gone.signal });
  };
  let content = '';
  let count = 0;
  const started = performance.now();
  let first = started;
  try {
    for await (const text of llama.generate(asked.prompt, asked.most, asked.sampling, gone.signal)) {
      if (count++ === 0) first = performance.now();
      content += text;
      if (!asked.stream) continue;
      if (count === 1) {
        response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
        await send(chunk({ role: 'assistant', content: null }));
      }
      if (text) await send(chunk({ content: text }));
    }
  } catch (error) {
    if (!gone.signal.aborted) throw error;
  }
  const timings = timingsOf(asked, count, first - started, performance.now() - first);
  const speed = `${count} tokens, ${timings.predicted_per_second.toFixed(1)} tokens/s`;
  if (gone.signal.aborted) {
    log(`srv  stop: cancel chat ${number}: the client is gone, ${speed}`);
    return;
  }

  const finish = count < asked.most ? 'stop' : 'length';
  log(`slot release: chat ${number}: ${finish}, ${speed}, first token after ${timings.prompt_ms.toFixed(1)} ms`);
  const usage = {
    prompt_tokens: asked.prompt.length,
    completion_tokens: count,
    total_tokens: asked.prompt.length + count,
  };
  if (!asked.stream) {
    const choice = { index: 0, message: { role: 'assistant', content }, finish_reason: finish };
    return sendJson(response, 200, { choices: [choice], ...answer, object: 'chat.completion', usage, timings });
  }
  if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
  await send({ ...chunk({}, finish), ...(asked.includeUsage ? {} : { timings }) });
  if (asked.includeUsage) await send({ ...chunk({}), choices: [], usage, timings });
  response.end('data: [DONE]\n\n');
}

function timingsOf({ prompt }: ChatRequest, count: number, promptMs: number, predictedMs: number) {
  const perSecond = (tokens: number, ms: number) => (ms > 0 ? (tokens / ms) * 1000 : 0);
  return {
    prompt_n: prompt.length,
    prompt_ms: promptMs,
    prompt_per_second: perSecond(prompt.length, promptMs),
    predicted_n: count,
    predicted_ms: predictedMs,
    // The first token comes with the prompt.
    predicted_per_second: perSecond(Math.max(0, count - 1), predictedMs),
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > MAX_BODY_BYTES) throw new ApiError(413, 'invalid_request_error', 'the body is too large');
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body));
}

for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.on(signal, () => {
    log(`main: ${signal}, cleaning up before exit`);
    process.exit(0);
  });

server.on('error', (error) => stop(error.message));
server.listen(options.port, options.host, async () => {
  const started = performance.now();
  log(`main: HTTP server is listening on http://${options.host}:${options.port}, loading model ${options.model}`);
  try {
    llama = await loadLlama({ ...options, log });
  } catch (error) {
    stop((error as Error).message);
  }
  const { parameters, context, slots, threads } = llama;
  const size = `${(parameters / 1e6).toFixed(1)} M parameters, context ${context} × ${slots}, ${threads} threads`;
  log(`main: model loaded in ${Math.round(performance.now() - started)} ms: ${size}`);
  log(`main: server is ready as ${modelName}${options.apiKey ? ', with an API key' : ''}`);
});
