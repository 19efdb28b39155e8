import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { BRAND } from '@stagi/contract/brand.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { held } from '../http/errors.ts';
import { NO_PAGE } from '../http/plainHeaders.ts';
import { logRefusedRequest } from '../http/refusalLog.ts';
import type { GitCaller } from '../projects/gitAccess.ts';
import { createKnownCallers, type KnownCallers } from '../sessions/knownCallers.ts';
import { asPerson } from '../slots/holder.ts';
import { holdForAnswer } from '../slots/holdForAnswer.ts';
import { startInTurn } from '../slots/startInTurn.ts';
import { isVersion2, type Service } from './gitService.ts';
import type { Hosting } from './hosting.ts';
import { LFS_JSON, lfsProjectOf, noLfs } from './lfs.ts';
import { GitRefusal, NotOurRef, noSuchProject, refusalOf } from './refusal.ts';
import { runTransfer } from './runTransfer.ts';
import { authorizeGit, type GitRequest, mayGoOn, type Served, serveGit } from './serve.ts';

export const GIT_PREFIX = '/git/';

const PATH =
  /^\/git\/([1-9][0-9]{0,9})\/([a-z0-9](?:-?[a-z0-9]){2,39})\.git\/(info\/refs|git-upload-pack|git-receive-pack)$/;
const ID_MAX = 2 ** 31 - 1;
/** Requests for objects are lists of hashes. A gzip body may be a thousand times its size once unpacked. */
const MAX_UNPACKED = 64 * 1024 * 1024;
/** A refused request may send the rest of its body for so long: a client that is cut off while it sends reads no answer. */
const LINGER_MS = 10_000;

interface Asked extends Pick<GitRequest, 'clientId' | 'slug' | 'service'> {
  isAdvertisement: boolean;
}

/** Git's smart protocol by HTTP (gitprotocol-http(5)), with an API token as password. */
export function mountGitHttp(app: FastifyInstance, hosting: Hosting): void {
  const callers = createKnownCallers(hosting.ctx);
  app.all(`${GIT_PREFIX}*`, {
    // Before any body is read: it is streamed to git.
    onRequest: async (request, reply) => {
      try {
        await answer(hosting, callers, request, reply);
      } catch (error) {
        sendRefusal(request, reply, error);
      }
      return reply;
    },
    handler: () => {
      throw new Error('answered before');
    },
  });
}

async function answer(
  hosting: Hosting,
  callers: KnownCallers,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  if (hosting.ctx.heldSince) throw held();
  const token = passwordOf(request.headers.authorization);
  // Before the path is looked at: without a password nobody learns which paths exist.
  if (token === null) throw unauthenticated();
  const lfs = lfsProjectOf(request.url);
  if (lfs) {
    const who = async (): Promise<GitCaller> => ({ kind: 'token', token, ip: request.ip });
    await authorizeGit(hosting.ctx, { ...named(lfs), service: 'git-upload-pack', who, via: 'https' });
    throw noLfs();
  }
  const asked = readRequest(request);
  const gitRequest: GitRequest = {
    ...asked,
    who: async () => ({ kind: 'token', token, ip: request.ip }),
    via: 'https',
  };
  const { gitTransfers, gitStarts } = hosting.ctx.slots;
  const bearer = `Bearer ${token}`;
  const seeming = await callers.holderOf(bearer);
  // Before the database is asked.
  if (seeming) gitTransfers.requireChance(seeming);
  const project = await authorizeGit(hosting.ctx, gitRequest);
  const holder = asPerson(project.userId, project.workspaceId);
  callers.remember(bearer, holder);
  const { raw } = request;
  // The request loses it when its body is given up.
  const { socket } = raw;
  const response = reply.raw;
  holdForAnswer(request, reply, gitTransfers, holder);
  const end = hosting.transfers.begin({
    key: `${token} ${project.id}`,
    isAllowed: () => mayGoOn(hosting.ctx, gitRequest, project.id),
    cut: () => cut(),
  });
  const protocol = single(request.headers['git-protocol']);
  const left = new AbortController();
  // It may have left while the database was asked.
  if (response.destroyed) left.abort();
  else response.once('close', () => left.abort());
  const start = (): Served =>
    serveGit(hosting, gitRequest, project, {
      options: asked.isAdvertisement ? ['--stateless-rpc', '--http-backend-info-refs'] : ['--stateless-rpc'],
      protocol,
    });
  function cut(): void {
    left.abort();
    // Not `destroy`: the system would still deliver what it holds in the buffer of the socket.
    socket.resetAndDestroy();
  }
  void reply.hijack();
  let begun = false;
  const begin = (): void => {
    if (begun) return;
    begun = true;
    response.writeHead(200, headersOf(asked));
    if (asked.isAdvertisement && !isVersion2(protocol)) response.write(serviceLine(asked.service));
  };
  try {
    const served = await startInTurn(gitStarts, holder, start, left.signal);
    const code = await runTransfer(served, {
      input: asked.isAdvertisement ? null : bodyOf(raw),
      readsToTheEnd: true,
      output: response,
      begin,
      cut,
      idleMs: hosting.limits.idleMs,
      left: left.signal,
      log: request.log,
    });
    // Killed: the client must not take what it has for a whole answer.
    if (code === null) cut();
    begin();
    response.end();
  } catch (error) {
    if (begun) cut();
    else if (error instanceof NotOurRef) {
      begin();
      response.end(packet(`ERR ${error.message}`));
    } else if (!left.signal.aborted) sendRaw(request, response, error);
  } finally {
    end();
  }
}

const unauthenticated = (): GitRefusal => new GitRefusal(401, 'Give an API token as password, with any user name.');

/** RFC 7617: the password of `Basic`. The user name may be anything. */
function passwordOf(authorization: string | undefined): string | null {
  const [, base64] = /^basic ([A-Za-z0-9+/=_-]{1,1000})$/i.exec(authorization ?? '') ?? [];
  if (!base64) return null;
  const pair = Buffer.from(base64, 'base64').toString();
  const colon = pair.indexOf(':');
  return colon < 0 || colon === pair.length - 1 ? null : pair.slice(colon + 1);
}

function readRequest({ method, url, headers }: FastifyRequest): Asked {
  const [path = '', query = ''] = url.split('?', 2);
  const [, clientId, slug, what] = PATH.exec(path) ?? [];
  if (!slug) throw noSuchProject();
  const project = named({ clientId: Number(clientId), slug });
  if (what === 'info/refs') {
    if (method !== 'GET') throw new GitRefusal(405, 'Only GET is answered here.');
    // Without a service this is the protocol of plain file servers.
    const service = /^service=(git-(?:upload|receive)-pack)$/.exec(query)?.[1];
    if (!service) throw new GitRefusal(403, 'Only the smart protocol of git is spoken here: use git 1.6.6 or later.');
    return { ...project, service: service as Service, isAdvertisement: true };
  }
  if (method !== 'POST') throw new GitRefusal(405, 'Only POST is answered here.');
  if (headers['content-type'] !== `application/x-${what}-request`)
    throw new GitRefusal(415, `This takes application/x-${what}-request.`);
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity' && !isGzip(encoding)) throw new GitRefusal(415, 'Only gzip is unpacked here.');
  return { ...project, service: what as Service, isAdvertisement: false };
}

function named<P extends { clientId: number; slug: string }>(project: P): P {
  if (project.clientId > ID_MAX || project.slug.length > 40) throw noSuchProject();
  return project;
}

const isGzip = (encoding: string | undefined): boolean => encoding === 'gzip' || encoding === 'x-gzip';

/** The body as git reads it; unpacked, it is bounded. */
async function* bodyOf(raw: IncomingMessage): AsyncGenerator<Buffer> {
  if (!isGzip(raw.headers['content-encoding'])) return yield* raw as AsyncIterable<Buffer>;
  const gunzip = createGunzip();
  raw.once('error', (error) => gunzip.destroy(error));
  let bytes = 0;
  try {
    for await (const chunk of raw.pipe(gunzip) as Readable as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > MAX_UNPACKED) throw new GitRefusal(413, `Unpacked, this is more than ${MAX_UNPACKED} bytes.`);
      yield chunk;
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code?.startsWith('Z_')) throw new GitRefusal(400, 'This gzip is damaged.');
    throw error;
  }
}

const NO_CACHE = {
  expires: 'Fri, 01 Jan 1980 00:00:00 GMT',
  pragma: 'no-cache',
  'cache-control': 'no-cache, max-age=0, must-revalidate',
  ...NO_PAGE,
};

const headersOf = ({ service, isAdvertisement }: Asked) => ({
  ...NO_CACHE,
  'content-type': `application/x-${service}-${isAdvertisement ? 'advertisement' : 'result'}`,
});

/** gitprotocol-http(5): versions 0 and 1 begin with a line that names the service, and a flush. */
const serviceLine = (service: Service): string => `${packet(`# service=${service}\n`)}0000`;

/** gitprotocol-common(5). */
const packet = (line: string): string => `${(line.length + 4).toString(16).padStart(4, '0')}${line}`;

const single = (header: string | string[] | undefined): string | undefined =>
  typeof header === 'string' ? header : undefined;

function sendRefusal(request: FastifyRequest, reply: FastifyReply, error: unknown): void {
  void reply.hijack();
  sendRaw(request, reply.raw, error);
}

/** A few words as plain text: git prints them as `remote: …`. For git-lfs as JSON. */
function sendRaw(request: FastifyRequest, response: ServerResponse, error: unknown): void {
  const { status, message, retryAfter } = refusalOf(error);
  if (status === 500) request.log.error({ err: error }, 'a git request failed');
  // Without credentials a client of git only asks whether it needs some.
  else if (request.headers.authorization !== undefined) logRefusedRequest(request, { status, reason: message });
  const { raw } = request;
  const { socket } = response;
  if (response.destroyed || !socket || socket.destroyed) return;
  const isLfs = lfsProjectOf(request.url) !== null;
  const body = isLfs ? JSON.stringify({ message }) : `${message}\n`;
  response.writeHead(status, {
    ...NO_CACHE,
    'content-type': isLfs ? LFS_JSON : 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    ...(status === 401 && { 'www-authenticate': `Basic realm="${BRAND}", charset="UTF-8"` }),
    ...(retryAfter !== null && { 'retry-after': String(retryAfter) }),
    ...(!raw.complete && hasBody(raw) && { connection: 'close' }),
  });
  response.end(request.method === 'HEAD' ? undefined : body);
  if (raw.complete || !hasBody(raw)) return;
  raw.resume();
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  raw.once('close', () => clearTimeout(timer));
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
