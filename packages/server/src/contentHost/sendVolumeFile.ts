import { Readable } from 'node:stream';
import { FileFacts } from '@stagi/contract/daemonFiles.ts';
import { S3Error } from '@stagi/s3/errors.ts';
import { rangeOf } from '@stagi/s3/operations/range.ts';
import { create } from 'content-disposition';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import { asPerson } from '../slots/holder.ts';
import { holdForAnswer } from '../slots/holdForAnswer.ts';
import {
  askDaemon,
  exactly,
  openFileStream,
  readHead,
  type Volume,
  withErrorStatus,
} from '../volumeFiles/daemonFiles.ts';
import { contentTypeOf, nameOf } from '../volumeFiles/present.ts';
import { type OpenedTicket, openTicket, watchTicket } from '../volumeFiles/ticket.ts';
import { isMedia, safeContentType } from './contentType.ts';
import { fileNameOf } from './fileName.ts';
import { ContentRefusal, linkEnded, noSuchLink } from './sendObject.ts';

const BYTES = 'application/octet-stream';

/** Answers with a file of a volume, or with a folder as a ZIP file: media for a preview, anything else as a download. */
export async function sendVolumeFile(
  ctx: Context,
  sealed: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  try {
    return await answer(ctx, sealed, request, reply);
  } catch (error) {
    throw withErrorStatus(error);
  }
}

async function answer(
  ctx: Context,
  sealed: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const ticket = await openTicket(ctx, sealed);
  if (ticket === 'unknown') throw noSuchLink();
  if (ticket === 'ended' || ticket.use.for === 'upload') throw linkEnded();
  const { user, workspace } = ticket.owner;
  holdForAnswer(request, reply, ctx.slots.volumeTransfers, asPerson(user.id, workspace.id));
  if (ticket.use.for === 'download' && ticket.use.isFolder) return sendArchive(ctx, ticket, request, reply);
  return sendFile(ctx, ticket, request, reply);
}

async function sendArchive(
  ctx: Context,
  { volume, path, ...ticket }: OpenedTicket,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const name = fileNameOf(path === '' ? volume.directory : path);
  const stream = request.method === 'HEAD' ? null : await openFileStream(ctx, volume, { do: 'archive', path });
  // Now that nothing is refused any more: a refusal has other headers.
  void reply.type('application/zip').header('content-disposition', create(`${name}.zip`, { type: 'attachment' }));
  if (!stream) return reply.send();
  stream.end();
  return send(stream, ctx, ticket, request, reply);
}

async function sendFile(
  ctx: Context,
  { volume, path, ...ticket }: OpenedTicket,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const name = nameOf(path);
  const facts = await askDaemon(ctx, volume, { do: 'stat', path }, FileFacts);
  if (facts.kind !== 'file') throw new ContentRefusal(404, 'There is no such file.');
  const range = rangeAsked(request, reply, facts);
  const { start, end } = range ?? { start: 0, end: facts.sizeBytes - 1 };
  const type = safeContentType(contentTypeOf('file', name));
  const isShown = ticket.use.for === 'preview' && isMedia(type);
  const length = end - start + 1;
  const stream = request.method === 'HEAD' ? null : await openContent(ctx, volume, path, facts.etag, start, length);
  void reply
    .status(range ? 206 : 200)
    .type(isShown ? type : BYTES)
    .header('etag', `"${facts.etag}"`)
    .header('accept-ranges', 'bytes')
    .header('content-length', length)
    .header('content-disposition', create(fileNameOf(path), { type: isShown ? 'inline' : 'attachment' }));
  if (range) void reply.header('content-range', `bytes ${start}-${end}/${facts.sizeBytes}`);
  // The web app shows it in its own pages.
  if (isShown) void reply.header('cross-origin-resource-policy', 'cross-origin');
  if (!stream) return reply.send();
  return send(stream, ctx, ticket, request, reply);
}

async function openContent(
  ctx: Context,
  volume: Volume,
  path: string,
  etag: string,
  from: number,
  length: number,
): Promise<Readable> {
  const stream = await openFileStream(ctx, volume, { do: 'read', path, from, length, etag });
  stream.end();
  await readHead(stream);
  const content = Readable.from(exactly(stream, length), { objectMode: false });
  // Also while nothing comes: the generator is then asked for nothing.
  return content.once('close', () => stream.destroy());
}

function send(
  stream: Readable,
  ctx: Context,
  ticket: Pick<OpenedTicket, 'owner' | 'recheck'>,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const { socket } = request.raw;
  const cutOff = (): void => void socket.resetAndDestroy();
  reply.raw.once('close', watchTicket(ctx, ticket, cutOff));
  // A plain end would look like a whole file.
  stream.once('error', cutOff);
  return reply.send(stream);
}

function rangeAsked({ headers }: FastifyRequest, reply: FastifyReply, { sizeBytes: size, etag }: FileFacts) {
  try {
    return rangeOf(headers.range ?? null, headers['if-range']?.toString() ?? null, { size, etag });
  } catch (error) {
    if (!(error instanceof S3Error)) throw error;
    void reply.header('content-range', `bytes */${size}`);
    throw new ContentRefusal(416, 'This file has no such range.');
  }
}
