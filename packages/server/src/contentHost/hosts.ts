import { GENERIC_ERROR } from '@stagi/contract/errors.ts';
import { type Transfers, watchTransfers } from '@stagi/s3/transfers.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import { held, isOverload, PublicError, unavailable } from '../http/errors.ts';
import { createHostReader } from '../http/hostOf.ts';
import { networkOf } from '../http/network.ts';
import { consumePoint, createRateLimiter } from '../http/rateLimit.ts';
import { keysStillWorking } from '../objects/keys.ts';
import { asAccessKey, asStranger } from '../slots/holder.ts';
import { holdForAnswer } from '../slots/holdForAnswer.ts';
import { previewedObject, sharedObject } from './links.ts';
import { sendCode } from './sendCode.ts';
import { ContentRefusal, sendObject } from './sendObject.ts';
import { sendVolumeFile } from './sendVolumeFile.ts';
import { sendZip } from './sendZip.ts';

const PREVIEW = /^\/preview\/([\w.-]{1,4000})$/;
/** The name is for people and their downloads: the token alone says what is opened. */
const SHARE = /^\/share\/([\w-]{43})\/[^/]*$/;
/** A file of a commit. */
const CODE = /^\/code\/([\w.-]{1,1000})\/(.{1,12000})$/;
/** A folder of objects as a ZIP file. */
const ZIP = /^\/zip\/([\w.-]{1,4000})$/;
/** A file or folder of a volume of a container. */
const VOLUME = /^\/volume\/([\w.-]{1,12000})$/;

/** A page of pictures makes many requests; guessing a token needs far more. */
const requests = createRateLimiter({ points: 600, duration: 60 });

/**
 * Answers every request to the content host before any page or call of the platform: what users made is shown from an
 * origin that knows no session and whose answers are sandboxed.
 */
export function guardContentHost(app: FastifyInstance, ctx: Context): void {
  const { host } = new URL(ctx.config.contentOrigin);
  const transfers = watchTransfers({ stillWorking: (ids) => keysStillWorking(ctx.db, ids) }, (error) =>
    ctx.log.warn({ err: error }, 'access keys of open content could not be checked'),
  );
  app.addHook('onClose', () => transfers.stop());
  const hostOf = createHostReader(ctx.config);
  app.addHook('onRequest', async (request, reply) => {
    if (hostOf(request.raw) !== host) return;
    void reply.headers(headersOf(ctx.config.appOrigin));
    try {
      return await answer(ctx, transfers, request, reply);
    } catch (error) {
      return sendRefusal(request, reply, error);
    }
  });
}

const headersOf = (appOrigin: string) => ({
  'content-security-policy': `sandbox; default-src 'none'; img-src 'self' data:; media-src 'self'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors ${appOrigin}`,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'private, no-store',
  'cross-origin-resource-policy': 'same-origin',
});

async function answer(
  ctx: Context,
  transfers: Transfers,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  // Code lies in the platform's own repositories; all else comes from the S3 service or from a machine.
  if (ctx.heldSince && !request.url.startsWith('/code/')) throw held();
  await consumePoint(requests(ctx), networkOf(request.ip));
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    void reply.header('allow', 'GET, HEAD');
    throw new ContentRefusal(405, 'Only GET and HEAD are answered here.');
  }
  const [path = '', query = ''] = request.url.split('?', 2);
  const ticket = PREVIEW.exec(path)?.[1];
  if (ticket) {
    const object = await previewedObject(ctx, ticket);
    holdForAnswer(request, reply, ctx.slots.contentReads, asAccessKey(object.accessKeyId));
    return sendObject(ctx, object, { purpose: 'preview', transfers }, request, reply);
  }
  const zip = ZIP.exec(path)?.[1];
  if (zip) return sendZip(ctx, zip, transfers, request, reply);
  const isDownload = new URLSearchParams(query).has('download');
  const [, sealed, encoded] = CODE.exec(path) ?? [];
  if (sealed && encoded) return sendCode(ctx, { sealed, path: decoded(encoded), isDownload }, request, reply);
  const ofVolume = VOLUME.exec(path)?.[1];
  if (ofVolume) return sendVolumeFile(ctx, ofVolume, request, reply);
  const token = SHARE.exec(path)?.[1];
  if (!token) throw new ContentRefusal(404, 'There is nothing at this address.');
  const purpose = isDownload ? 'download' : 'share';
  const object = await sharedObject(ctx, token);
  holdForAnswer(request, reply, ctx.slots.contentReads, asStranger(request.ip));
  return sendObject(ctx, object, { purpose, transfers }, request, reply);
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch (cause) {
    throw new ContentRefusal(404, 'There is nothing at this address.', { cause });
  }
}

/** A few words as plain text. */
function sendRefusal(request: FastifyRequest, reply: FastifyReply, error: unknown): FastifyReply {
  const { status, message, retryAfter } = refusalOf(error);
  if (status >= 500) request.log.warn({ err: error }, 'content could not be shown');
  if (retryAfter !== null) void reply.header('retry-after', String(retryAfter));
  return reply.status(status).type('text/plain; charset=utf-8').send(`${message}\n`);
}

function refusalOf(error: unknown): { status: number; message: string; retryAfter: number | null } {
  if (error instanceof ContentRefusal) return { status: error.status, message: error.message, retryAfter: null };
  const known = isOverload(error) ? unavailable(error) : error;
  if (known instanceof PublicError)
    return { status: known.status, message: known.message, retryAfter: known.retryAfter };
  return { status: 500, message: GENERIC_ERROR, retryAfter: null };
}
