import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { DesiredContainer } from '@stagi/contract/desiredState.ts';
import * as transfer from '@stagi/contract/taskTransfer.ts';
import { pack } from 'tar-stream';
import { container } from './daemon.ts';

/** The word that every presigned link of this store holds. */
export const SIGNATURE = 'x-signature-of-a-link';
const PART_BYTES = 32 * 1024 * 1024;
const PAGE = 3;

/** The platform's side of `taskTransfer.ts`, and the objects behind its links, for tests of the daemon. */
export interface TaskStore {
  /** Takes the requests for tasks and their objects; returns false for others. */
  handle(request: IncomingMessage, response: ServerResponse): boolean;
  add(files?: { source?: Buffer; input?: [string, Buffer][] }): StoredTask;
}

/** What the store keeps for one run. */
export interface StoredTask {
  token: string;
  /** What was uploaded. */
  output: Map<string, Buffer>;
  /** Paths of the requests, in order; `GET object` and `PUT object` for those to links. */
  requests: string[];
  /** The next requests of this kind are answered with these statuses. */
  refuse(request: string, ...statuses: number[]): void;
  /** Has the next request of this kind wait. */
  hold(request: string): { reached: Promise<void>; release(): void };
}

interface Upload {
  path: string;
  parts: Map<number, Buffer>;
}

export function openTaskStore(origin: () => string): TaskStore {
  const tasks = new Map<string, { stored: StoredTask; answer(kind: string, call: Call): Promise<void> }>();
  return {
    handle(request, response) {
      const url = new URL(request.url ?? '/', origin());
      const isObject = url.pathname.startsWith('/objects/');
      if (!isObject && !url.pathname.startsWith('/daemon-api/task/')) return false;
      const token = isObject
        ? url.pathname.split('/')[2]!
        : (request.headers.authorization ?? '').replace('Bearer ', '');
      const kind = isObject ? `${request.method} object` : url.pathname;
      const task = [...tasks.values()].find(({ stored }) => (isObject ? idOf(stored) : stored.token) === token);
      const answered = task
        ? task.answer(kind, { request, response, url })
        : Promise.resolve(void end(response, 401, { message: 'There is no such run' }));
      answered.catch((error: unknown) => end(response, 500, { message: String(error) }));
      return true;
    },
    add(files = {}) {
      const task = openTask(origin, files);
      tasks.set(task.stored.token, task);
      return task.stored;
    },
  };
}

interface Call {
  request: IncomingMessage;
  response: ServerResponse;
  url: URL;
}

/** Links hold this, as no link may hold the token. */
function idOf({ token }: StoredTask): string {
  return token.slice(-12);
}

function openTask(origin: () => string, { source, input = [] }: { source?: Buffer; input?: [string, Buffer][] }) {
  const sorted = input.toSorted(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const refusals = new Map<string, number[]>();
  const held = new Map<string, { reach(): void; released: Promise<void> }>();
  const uploads = new Map<string, Upload>();
  const stored: StoredTask = {
    token: `token-of-a-run-${randomUUID()}`,
    output: new Map(),
    requests: [],
    refuse: (kind, ...statuses) => void refusals.set(kind, statuses),
    hold(kind) {
      const reached = Promise.withResolvers<void>();
      const released = Promise.withResolvers<void>();
      held.set(kind, { reach: reached.resolve, released: released.promise });
      return { reached: reached.promise, release: released.resolve };
    },
  };
  const link = (what: string, values: Record<string, string>) =>
    `${origin()}/objects/${idOf(stored)}/${what}?${new URLSearchParams({ ...values, signature: SIGNATURE })}`;

  async function answer(kind: string, call: Call): Promise<void> {
    stored.requests.push(kind);
    const hold = held.get(kind);
    if (hold) {
      held.delete(kind);
      hold.reach();
      await hold.released;
    }
    const body = await buffer(call.request);
    const status = refusals.get(kind)?.shift();
    if (status) return end(call.response, status, { message: `Refused with ${status}` });
    if (kind === transfer.TASK_SOURCE_PATH) return void call.response.end(source ?? (await tarOf([])));
    if (kind.endsWith('object')) return answerObject(call, body);
    end(call.response, 200, answerCall(kind, JSON.parse(body.toString())));
  }

  function answerCall(kind: string, input: unknown): object {
    switch (kind) {
      case transfer.TASK_INPUT_PATH: {
        const from = Number(transfer.TaskInputRequest.parse(input).after ?? 0);
        const files = sorted.slice(from, from + PAGE).map(([path, content], index) => ({
          path,
          sizeBytes: content.length,
          url: link('input', { index: String(from + index) }),
        }));
        return { files, next: from + PAGE < sorted.length ? String(from + PAGE) : null };
      }
      case transfer.TASK_OUTPUT_LINKS_PATH: {
        const { files } = transfer.TaskOutputLinksRequest.parse(input);
        return { links: files.map(({ path }) => ({ path, url: link('output', { path }) })) };
      }
      case transfer.TASK_OUTPUT_BEGIN_PATH: {
        const { path } = transfer.TaskUploadBegin.parse(input);
        const uploadId = randomUUID();
        uploads.set(uploadId, { path, parts: new Map() });
        return { uploadId, partBytes: PART_BYTES };
      }
      case transfer.TASK_OUTPUT_PARTS_PATH: {
        const { uploadId, partNumbers } = transfer.TaskUploadPartsRequest.parse(input);
        const url = (partNumber: number) => link('part', { uploadId, partNumber: String(partNumber) });
        return { links: partNumbers.map((partNumber) => ({ partNumber, url: url(partNumber) })) };
      }
      case transfer.TASK_OUTPUT_COMPLETE_PATH: {
        const { path, uploadId } = transfer.TaskUploadComplete.parse(input);
        const parts = [...uploads.get(uploadId)!.parts].sort(([a], [b]) => a - b);
        stored.output.set(path, Buffer.concat(parts.map(([, content]) => content)));
        return {};
      }
      default:
        throw new Error(`no such call: ${kind}`);
    }
  }
  function answerObject({ request, response, url }: Call, body: Buffer): undefined {
    if (url.searchParams.get('signature') !== SIGNATURE) return end(response, 403, {});
    switch (url.pathname.split('/')[3]) {
      case 'input': {
        const content = sorted[Number(url.searchParams.get('index'))]![1];
        const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
        response.statusCode = from > 0 ? 206 : 200;
        response.setHeader('content-length', content.length - from);
        response.setHeader('etag', '"same"');
        return void response.end(content.subarray(from));
      }
      case 'output':
        stored.output.set(url.searchParams.get('path')!, body);
        return void response.end();
      case 'part':
        uploads.get(url.searchParams.get('uploadId')!)!.parts.set(Number(url.searchParams.get('partNumber')), body);
        return void response.end();
      default:
        return end(response, 404, {});
    }
  }
  return { stored, answer };
}

function end(response: ServerResponse, status: number, body: object): undefined {
  response.statusCode = status;
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(body));
}

export type TestEntry = { name: string; mode?: number; content?: string; link?: string };

/** As `git archive` makes it. A name that ends in `/` is a directory. */
export async function tarOf(entries: TestEntry[]): Promise<Buffer> {
  const tar = pack();
  for (const { name, mode = 0o664, content = '', link } of entries) {
    if (name.endsWith('/')) tar.entry({ name, type: 'directory', mode: 0o775 });
    else if (link === undefined) tar.entry({ name, mode }, content);
    else tar.entry({ name, type: 'symlink', linkname: link });
  }
  tar.finalize();
  return buffer(tar);
}

/** The run of a task: a line for the shell of the test image. */
export function taskContainer(
  id: number,
  line: string,
  more: Parameters<typeof container>[2] & { token?: string; limit?: number; paths?: object } = {},
): DesiredContainer & Required<Pick<DesiredContainer, 'task'>> {
  const { token = 'none', limit, paths, ...rest } = more;
  const task = {
    token,
    codePath: '/workspace',
    inputPath: '/data/in',
    outputPath: '/workspace/out',
    timeLimitSeconds: limit ?? null,
    ...paths,
  };
  return { ...container(id, line, { ...rest, spec: { command: [line], ...rest.spec } }), task };
}
