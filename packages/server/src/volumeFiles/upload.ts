import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Written } from '@stagi/contract/daemonFiles.ts';
import { text } from '@stagi/contract/text.ts';
import { UPLOAD_PATH, UploadAnswer } from '@stagi/contract/volumeFiles.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { badInput, PublicError } from '../http/errors.ts';
import { StreamRefused } from '../nodes/streamHub.ts';
import { asPerson } from '../slots/holder.ts';
import { holdForAnswer } from '../slots/holdForAnswer.ts';
import { openFileStream, publicly, readAnswer, withErrorStatus } from './daemonFiles.ts';
import { type OpenedTicket, openTicket, watchTicket } from './ticket.ts';

export const isUpload = (url: string): boolean => url.startsWith(UPLOAD_PATH);

/** A sender from whom nothing comes for so long has gone. */
const STALLED_MS = 60_000;
/** After a refusal the rest of the body may come for so long: who is cut off while sending reads no answer. */
const LINGER_MS = 5_000;

const Query = z.object({ at: z.coerce.number().int().min(0).default(0) });

/** Takes the bytes of uploads and sends them on to the daemon, as fast as it takes them. */
export function mountUploads(app: FastifyInstance, ctx: Context): void {
  app.put(`${UPLOAD_PATH}*`, {
    // Before any body is read: it is streamed to the daemon.
    onRequest: async (request, reply) => {
      try {
        await reply.send(await receive(ctx, request, reply));
      } catch (error) {
        hangUpSoon(request.raw, reply);
        throw withErrorStatus(error);
      }
      return reply;
    },
    handler: () => {
      throw new Error('answered before');
    },
  });
}

async function receive(ctx: Context, request: FastifyRequest, reply: FastifyReply): Promise<UploadAnswer> {
  const query = Query.safeParse(request.query);
  if (!query.success) throw badInput(query.error);
  const { at } = query.data;
  const [sealed = ''] = request.url.slice(UPLOAD_PATH.length).split('?', 1);
  const ticket = await openTicket(ctx, sealed);
  if (typeof ticket === 'string' || ticket.use.for !== 'upload')
    throw new PublicError(ticket === 'ended' ? 410 : 404, text('This upload has expired: begin it again'));
  const { upload, total, replaces } = ticket.use;
  const announced = Number(request.headers['content-length'] ?? 0);
  if (at > total || announced > total - at) throw new PublicError(400, text('More bytes came than were announced'));
  const { user, workspace } = ticket.owner;
  holdForAnswer(request, reply, ctx.slots.volumeTransfers, asPerson(user.id, workspace.id));
  const operation = { do: 'write', path: ticket.path, at, total, upload, replaces } as const;
  const stream = await openFileStream(ctx, ticket.volume, operation);
  const written = await passOn(ctx, request.raw, stream, ticket);
  if (written.state === 'refused') throw publicly(new StreamRefused(written.status, written.reason));
  const isDone = written.state === 'done';
  return UploadAnswer.parse({ isSuccess: true, isDone, offset: isDone ? total : written.sizeBytes });
}

/** The daemon may answer before it has all: its disk is full. */
async function passOn(ctx: Context, body: IncomingMessage, stream: Duplex, ticket: OpenedTicket): Promise<Written> {
  const over = new AbortController();
  const unwatch = watchTicket(ctx, ticket, () => over.abort());
  const stalled = watchForStalling(body, () => over.abort());
  const answer = readAnswer(stream, Written);
  const sent = pipeline(body, stream, { signal: over.signal });
  try {
    return await Promise.race([answer, sent.then(() => answer)]);
  } catch (error) {
    if (over.signal.aborted) throw new PublicError(410, text('This upload has expired: begin it again'));
    throw error;
  } finally {
    unwatch();
    stalled();
    // The other one of the two may fail after this one has ended.
    answer.catch(() => {});
    sent.catch(() => {});
  }
}

function watchForStalling(body: IncomingMessage, stop: () => void): () => void {
  let seen = body.socket.bytesRead;
  const timer = setInterval(() => {
    if (body.socket.bytesRead === seen && !body.complete) stop();
    seen = body.socket.bytesRead;
  }, STALLED_MS);
  return () => clearInterval(timer);
}

function hangUpSoon(body: IncomingMessage, reply: FastifyReply): void {
  if (body.complete) return;
  void reply.header('connection', 'close');
  body.resume();
  const timer = setTimeout(() => body.socket.destroySoon(), LINGER_MS);
  body.once('close', () => clearTimeout(timer));
}
