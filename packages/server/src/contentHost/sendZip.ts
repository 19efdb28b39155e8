import { PassThrough, type Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { Transfers } from '@stagi/s3/transfers.ts';
import { create } from 'content-disposition';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ZipFile } from 'yazl';
import type { Context } from '../context.ts';
import { listObjects } from '../objects/listObjects.ts';
import { asAccessKey } from '../slots/holder.ts';
import { holdForAnswer } from '../slots/holdForAnswer.ts';
import { askObject } from './askObject.ts';
import { fileNameOf } from './fileName.ts';
import { type OpenedFolder, zippedFolder } from './links.ts';
import { createMemberPlaces } from './memberPlaces.ts';
import { MAX_ZIPPED } from './zipLink.ts';

const PAGE = 1_000;
const CHUNK_BYTES = 256 * 1024;
const ZIP64_FROM = 0xffffffff;
/** The object has been deleted since it was listed. */
const GONE = 404;

/**
 * Answers with a ZIP file of all objects below a prefix, made while it is sent: the S3 service gives each of them for the
 * link's key, so what ends the key ends the archive.
 */
export async function sendZip(
  ctx: Context,
  sealed: string,
  transfers: Transfers,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const folder = await zippedFolder(ctx, sealed);
  holdForAnswer(request, reply, ctx.slots.objectZips, asAccessKey(folder.accessKeyId));
  const name = fileNameOf(folder.name);
  void reply.type('application/zip').header('content-disposition', create(`${name}.zip`, { type: 'attachment' }));
  if (request.method === 'HEAD') return reply.send();
  const { socket } = request.raw;
  const gone = new AbortController();
  const transfer = transfers.begin(socket, folder.accessKeyId);
  reply.raw.once('close', () => {
    gone.abort();
    transfer.end();
  });
  const archive = zipObjects(ctx, folder, gone.signal);
  // A plain end would look like a whole archive.
  archive.once('error', (error) => {
    if (!gone.signal.aborted) request.log.warn({ err: error }, 'an archive of objects was not sent to its end');
    socket.resetAndDestroy();
  });
  return reply.send(archive);
}

/** The objects are stored as they are: most of what is large is compressed already. */
function zipObjects(ctx: Context, folder: OpenedFolder, gone: AbortSignal): Readable {
  const zip = new ZipFile();
  const output = zip.outputStream as unknown as Readable;
  const fail = (error: unknown) => void output.destroy(error instanceof Error ? error : new Error(String(error)));
  zip.on('error', fail);
  addObjects(ctx, zip, folder, gone)
    .then(() => zip.end())
    .catch(fail);
  return output;
}

async function addObjects(ctx: Context, zip: ZipFile, folder: OpenedFolder, gone: AbortSignal): Promise<void> {
  const { prefix, bucketId } = folder;
  const placeOf = createMemberPlaces(fileNameOf(folder.name));
  // With a prefix within a name the whole name is kept.
  const cut = prefix.lastIndexOf('/') + 1;
  let after: string | null = null;
  let count = 0;
  do {
    const page = await listObjects(ctx.db, bucketId, { prefix, delimiter: '', after, limit: PAGE });
    for (const entry of page.entries) {
      if (entry.kind !== 'object') continue;
      const { key, size, modifiedAt: mtime } = entry.object;
      after = key;
      count += 1;
      if (count > MAX_ZIPPED) throw new Error('more objects than an archive may hold came meanwhile');
      const name = key.slice(cut);
      if (name === '') continue;
      const member = placeOf(name);
      if (member.endsWith('/')) zip.addEmptyDirectory(member, { mtime });
      else await addObject(ctx, zip, { folder, key, size, member, mtime }, gone);
    }
    if (!page.isTruncated) return;
  } while (!gone.aborted);
}

interface Member {
  folder: OpenedFolder;
  key: string;
  size: number;
  member: string;
  mtime: Date;
}

/** One at a time: the next is asked for when this one has been read. */
async function addObject(
  ctx: Context,
  zip: ZipFile,
  { folder, key, size, member, mtime }: Member,
  gone: AbortSignal,
): Promise<void> {
  const { bucket, accessKeyId, secretAccessKey } = folder;
  const object = { bucket, key, accessKeyId, secretAccessKey };
  const answer = await askObject(ctx, object, { method: 'GET', headers: {}, gone });
  if (answer.statusCode !== 200) {
    answer.resume();
    if (answer.statusCode === GONE) return;
    throw new Error(`the S3 service answered ${answer.statusCode} for an object of an archive`);
  }
  const content = new PassThrough({ highWaterMark: CHUNK_BYTES });
  // Once aborted, `finished` hears of no error any more: nobody else would.
  content.on('error', () => {});
  answer.once('error', (error) => content.destroy(error));
  zip.addReadStream(content, member, { mtime, compress: false, forceZip64Format: size >= ZIP64_FROM });
  answer.pipe(content);
  await finished(content, { signal: gone });
}
