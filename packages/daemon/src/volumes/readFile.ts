import { constants } from 'node:fs';
import type { Duplex, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { FileOperation, ReadHead } from '@stagi/contract/daemonFiles.ts';
import { text } from '@stagi/contract/text.ts';
import { RefusedStream } from '../streams/streamServer.ts';
import { factsOf } from './facts.ts';
import { type Entry, openContent } from './openBeneath.ts';

type Reading = Extract<FileOperation, { do: 'read' }>;

const CHUNK_BYTES = 256 * 1024;

export const hasChanged = (): RefusedStream => new RefusedStream(409, text('This file was changed since it was read'));

/** Sends a head and a range of the file as it is when it is opened. */
export async function sendFile(
  entry: Entry,
  { from, length, etag }: Pick<Reading, 'from' | 'length' | 'etag'>,
  accept: () => Duplex,
): Promise<void> {
  const file = await openContent(entry, constants.O_RDONLY);
  try {
    const facts = factsOf(await file.stat({ bigint: true }));
    if (etag !== null && etag !== facts.etag) throw hasChanged();
    const left = Math.max(0, facts.sizeBytes - from);
    const head: ReadHead = { ...facts, from, length: length === null ? left : Math.min(length, left) };
    const stream = accept();
    stream.write(framed(head));
    if (head.length === 0) return void stream.end();
    const range = { start: from, end: from + head.length - 1, highWaterMark: CHUNK_BYTES, autoClose: false };
    await pipeline(whole(file.createReadStream(range), head.length), stream);
  } finally {
    await file.close();
  }
}

/** A file that was cut meanwhile breaks the stream off: a plain end would look like the whole range. */
async function* whole(source: Readable, length: number): AsyncGenerator<Buffer> {
  let left = length;
  for await (const chunk of source as AsyncIterable<Buffer>) {
    left -= chunk.length;
    yield chunk;
  }
  if (left > 0) throw new Error('the file became shorter while it was read');
}

function framed(head: ReadHead): Buffer {
  const json = Buffer.from(JSON.stringify(head));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(json.length);
  return Buffer.concat([length, json]);
}
