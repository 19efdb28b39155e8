import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Transfers } from '@stagi/s3/transfers.ts';
import { create } from 'content-disposition';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import { askObject, type OpenedObject } from './askObject.ts';
import { isMedia, safeContentType } from './contentType.ts';
import { fileNameOf } from './fileName.ts';

/** What is answered in place of an object, as a short text. */
export class ContentRefusal extends Error {
  readonly status: number;
  constructor(status: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}
export const linkEnded = (): ContentRefusal => new ContentRefusal(410, 'This link has expired or was revoked.');
export const noSuchLink = (): ContentRefusal => new ContentRefusal(404, 'This link has expired or was revoked.');

type Shower = Pick<Context, 'config'>;

const PASSED_ON = ['range', 'if-range', 'if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since'];
const PASSED_BACK = [
  'content-length',
  'content-range',
  'content-encoding',
  'content-language',
  'accept-ranges',
  'etag',
  'last-modified',
];
/** A reader that takes nothing for so long has gone. */
const STALLED_MS = 120_000;

/**
 * Answers with an object that the S3 service gives for this key: it checks key, workspace and expiry, and cuts the
 * answer off within 2 s when one of them ends.
 */
export async function sendObject(
  ctx: Shower,
  object: OpenedObject,
  { purpose, transfers }: { purpose: 'preview' | 'share' | 'download'; transfers: Transfers },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const answer = await ask(ctx, object, request, reply);
  const { statusCode: status = 502, headers } = answer;
  if (status !== 200 && status !== 206 && status !== 304) {
    answer.resume();
    throw refusalFor(status, headers, reply);
  }
  for (const name of PASSED_BACK) if (headers[name] !== undefined) void reply.header(name, headers[name]);
  void reply.status(status);
  if (status === 304) {
    answer.resume();
    return reply.send();
  }
  const contentType = safeContentType(headers['content-type']);
  void reply.type(contentType).header('content-disposition', disposition(purpose, object.key));
  // The web app shows it in its own pages.
  if (purpose === 'preview' && isMedia(contentType)) void reply.header('cross-origin-resource-policy', 'cross-origin');
  if (request.method === 'HEAD') {
    answer.resume();
    return reply.send();
  }
  // The S3 service cuts off what may no longer be read, but behind a slow reader that is heard of only when all that the
  // system holds has been read; so the reader's own connection is watched, too.
  const { socket } = request.raw;
  const transfer = transfers.begin(socket, object.accessKeyId);
  reply.raw.once('close', () => transfer.end());
  // A plain end would still deliver what the system holds.
  answer.once('error', () => socket.resetAndDestroy());
  answer.setTimeout(STALLED_MS, () => answer.destroy(new Error('the reader of content has stalled')));
  return reply.send(answer);
}

/** What the S3 service refuses, in our words: its own name keys and buckets. */
function refusalFor(status: number, headers: IncomingHttpHeaders, reply: FastifyReply): ContentRefusal {
  switch (status) {
    case 403:
      return linkEnded();
    case 404:
      return new ContentRefusal(404, 'This file no longer exists.');
    case 412:
      return new ContentRefusal(412, 'This file has changed.');
    case 416:
      if (headers['content-range']) void reply.header('content-range', headers['content-range']);
      return new ContentRefusal(416, 'This file has no such range.');
    case 503:
      void reply.header('retry-after', headers['retry-after'] ?? '2');
      return new ContentRefusal(503, 'The service is busy. Try again in a moment.');
    default:
      return new ContentRefusal(502, 'This file cannot be read now.');
  }
}

/** Only our own name for it: a stored disposition may lie about the type. */
const disposition = (purpose: 'preview' | 'share' | 'download', key: string): string =>
  create(fileNameOf(key), { type: purpose === 'download' ? 'attachment' : 'inline' });

function ask(
  ctx: Shower,
  object: OpenedObject,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<IncomingMessage> {
  const headers = Object.fromEntries(
    PASSED_ON.flatMap((name) => (request.headers[name] === undefined ? [] : [[name, request.headers[name]]])),
  );
  // Nothing to do for a visitor who has gone before the answer came.
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  return askObject(ctx, object, { method: request.method === 'HEAD' ? 'HEAD' : 'GET', headers, gone: gone.signal });
}
