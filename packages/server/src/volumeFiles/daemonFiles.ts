import type { Duplex } from 'node:stream';
import type { FileOperation } from '@stagi/contract/daemonFiles.ts';
import { ListedFile, ReadHead } from '@stagi/contract/daemonFiles.ts';
import { text } from '@stagi/contract/text.ts';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { conflict, PublicError, refused } from '../http/errors.ts';
import { StreamRefused } from '../nodes/streamHub.ts';

/** An answer of a daemon that is no listing, and what a listing has besides its entries. */
const MAX_ANSWER_BYTES = 16 * 1024;
/** An entry with the longest name, of which each byte may be shown as `\\x..` in JSON. */
const MAX_ENTRY_BYTES = 2 * 1024;
/** So many entries are asked for at once, 8 MiB at most: to parse more would hold everybody up. */
const MAX_ENTRIES = 4_000;
const MAX_HEAD_BYTES = 64 * 1024;

/** A volume of a container on its server. */
export interface Volume {
  containerId: number;
  instanceId: number;
  /** Its directory inside the container. */
  directory: string;
}

/** Opens a stream for one operation. Throws PublicError. */
export async function openFileStream(
  { streams }: Pick<Context, 'streams'>,
  { containerId, instanceId, directory }: Volume,
  operation: FileOperation,
): Promise<Duplex> {
  try {
    return await streams.open(instanceId, { kind: 'file', containerId, volume: directory, operation });
  } catch (error) {
    throw publicly(error);
  }
}

/** Makes the daemon do something that it answers with JSON. */
export async function askDaemon<T>(
  ctx: Pick<Context, 'streams'>,
  volume: Volume,
  operation: FileOperation,
  answer: z.ZodType<T>,
): Promise<T> {
  const stream = await openFileStream(ctx, volume, operation);
  stream.end();
  return readAnswer(stream, answer);
}

/**
 * Lists a folder: `limit` entries or fewer, and `next` where there are more. Entries beyond what was asked for are not
 * looked at; the first that is none ends it.
 */
export async function listFolder(
  ctx: Pick<Context, 'streams'>,
  volume: Volume,
  operation: Extract<FileOperation, { do: 'list' }>,
): Promise<{ entries: ListedFile[]; next: string | null }> {
  const limit = Math.min(operation.limit, MAX_ENTRIES);
  const stream = await openFileStream(ctx, volume, { ...operation, limit });
  stream.end();
  const maxBytes = MAX_ANSWER_BYTES + limit * MAX_ENTRY_BYTES;
  const { entries, next } = await readAnswer(stream, UncheckedListing, maxBytes);
  try {
    return { entries: entries.slice(0, limit).map((entry) => ListedFile.parse(entry)), next };
  } catch (cause) {
    throw interrupted(cause);
  }
}

/** Each entry is checked for itself: all problems of a million entries would fill the memory. */
const UncheckedListing = z.object({
  entries: z.custom<readonly unknown[]>((value) => Array.isArray(value)),
  next: z.string().nullable(),
});

/** A longer answer than `maxBytes` is not read to its end, let alone parsed. */
export async function readAnswer<T>(stream: Duplex, answer: z.ZodType<T>, maxBytes = MAX_ANSWER_BYTES): Promise<T> {
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const part of stream as AsyncIterable<Buffer>) {
      bytes += part.length;
      if (bytes > maxBytes) throw new Error('the answer of a daemon is too long');
      parts.push(part);
    }
    return answer.parse(JSON.parse(Buffer.concat(parts).toString()));
  } catch (cause) {
    throw interrupted(cause);
  }
}

/** The head of a `read`; the stream's next bytes are those of the file. */
export async function readHead(stream: Duplex): Promise<ReadHead> {
  try {
    const length = (await readExactly(stream, 4)).readUInt32BE();
    if (length > MAX_HEAD_BYTES) throw new Error('the head of a file is too long');
    return ReadHead.parse(JSON.parse((await readExactly(stream, length)).toString()));
  } catch (cause) {
    stream.destroy();
    throw interrupted(cause);
  }
}

/**
 * What the stream sends, which must be so many bytes. Daemons of own servers are in the hands of their owners: a byte too
 * many in an answer would be read as the next answer of its connection.
 */
export async function* exactly(stream: Duplex, length: number): AsyncGenerator<Buffer> {
  let left = length;
  for await (const part of stream as AsyncIterable<Buffer>) {
    left -= part.length;
    if (left < 0) throw new Error(`more than ${length} bytes came`);
    yield part;
  }
  if (left > 0) throw new Error(`${length - left} of ${length} bytes came`);
}

export async function readBytes(stream: Duplex, length: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  try {
    for await (const part of exactly(stream, length)) parts.push(part);
  } catch (cause) {
    throw interrupted(cause);
  }
  return Buffer.concat(parts);
}

function readExactly(stream: Duplex, bytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const take = (): void => {
      const read = stream.read(bytes) as Buffer | null;
      if (read === null) return;
      stop();
      if (read.length === bytes) resolve(read);
      else reject(new Error('the stream ended early'));
    };
    const end = (): void => {
      stop();
      reject(new Error('the stream ended early'));
    };
    const fail = (error: Error): void => {
      stop();
      reject(error);
    };
    const stop = (): void => {
      stream.off('readable', take).off('end', end).off('close', end).off('error', fail);
    };
    stream.on('readable', take).on('end', end).on('close', end).on('error', fail);
    take();
  });
}

const interrupted = (cause: unknown): PublicError =>
  new PublicError(503, text('The connection to its server broke off. Try again.'), { cause });

/** The same refusal for what reads the status alone, where a refusal is no 200. */
export const withErrorStatus = (error: unknown): unknown =>
  error instanceof PublicError && error.status < 400 ? conflict(error.message) : error;

/** A refusal of the hub or of the daemon, as the caller of a call reads it. */
export function publicly(error: unknown): unknown {
  if (!(error instanceof StreamRefused)) return error;
  const { status, message } = error;
  if (status === 409) return conflict(message);
  if (status === 403) return refused(message);
  if (status === 429) return new PublicError(429, message, { retryAfter: 2 });
  return new PublicError([404, 507].includes(status) ? status : 503, message, { cause: error });
}
