import { isUtf8 } from 'node:buffer';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { pathText } from '@stagi/contract/codePath.ts';
import { text } from '@stagi/contract/text.ts';
import { type Entry, extract, type Headers, pack } from 'tar-stream';
import type { ArchiveEngine } from './dockerArchive.ts';
import { TransferError } from './transferError.ts';

/** What Linux allows in one name. */
export const MAX_NAME_BYTES = 255;
/** A tar archive ends with two empty blocks. */
const END_BYTES = 1024;

/** Text is written as UTF-8. */
export type TarPath = string | Buffer;

/** Writes the entries of a tar archive, one after another. */
export interface TarWriter {
  directory(path: TarPath, mode: number): Promise<void>;
  link(path: TarPath, to: TarPath, mtime?: Date): Promise<void>;
  file(
    path: TarPath,
    about: { size: number; mode: number; mtime?: Date },
    chunks: AsyncIterable<Buffer>,
  ): Promise<void>;
}

/**
 * Puts the entries that `fill` writes below a directory of a container. Throws what failed first. When that was Docker,
 * `fill` may not have ended yet.
 */
export async function putEntries(
  engine: ArchiveEngine,
  dockerId: string,
  directory: string,
  fill: (tar: TarWriter) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const tar = pack();
  const over = new AbortController();
  // Docker may refuse in the middle, when nobody reads any more.
  tar.on('error', () => {});
  let failure: unknown = null;
  const fail = (error: unknown) => {
    failure ??= error;
    over.abort();
    tar.destroy(error instanceof Error ? error : new Error(String(error)));
  };
  const put = engine.putArchive(dockerId, directory, Readable.from(tar, { objectMode: false }), signal).catch(fail);
  const filled = fill(tarWriter(tar, over.signal))
    .then(() => tar.finalize())
    .catch(fail);
  await put;
  // Of what it cannot extract, Docker tells at the end of the archive; of other reasons earlier.
  if (!failure) await filled;
  signal.throwIfAborted();
  if (failure) throw failure;
}

function tarWriter(tar: ReturnType<typeof pack>, signal: AbortSignal): TarWriter {
  function add(
    name: TarPath,
    header: Omit<Headers, 'name' | 'linkname'>,
    linkname?: TarPath,
  ): { sink: NodeJS.WritableStream; written: Promise<void> } {
    const { promise: written, resolve, reject } = Promise.withResolvers<void>();
    const bytes = bytesHeader(name, linkname);
    if (bytes) tar.push(bytes);
    const named = bytes
      ? { name: PLACEHOLDER, ...(linkname !== undefined && { linkname: PLACEHOLDER }) }
      : { name: String(name), ...(linkname !== undefined && { linkname: String(linkname) }) };
    const sink = tar.entry({ ...header, ...named }, (error) => (error ? reject(error) : resolve()));
    sink.on('error', () => {});
    written.catch(() => {});
    return { sink, written };
  }
  return {
    directory: (name, mode) => add(joinedPath(name, ''), { type: 'directory', mode }).written,
    link: (name, linkname, mtime) => add(name, { type: 'symlink', mode: 0o777, ...timeOf(mtime) }, linkname).written,
    async file(name, { size, mode, mtime }, chunks) {
      signal.throwIfAborted();
      const { sink, written } = add(name, { type: 'file', size, mode, ...timeOf(mtime) });
      for await (const chunk of chunks) if (!sink.write(chunk)) await once(sink, 'drain', { signal });
      sink.end();
      await written;
    },
  };
}

/** tar-stream writes text. Bytes that are none go into a pax header before the entry, which names something else then. */
const PLACEHOLDER = 'named-by-pax-header';

/** Null where the names are text, which tar-stream writes. */
function bytesHeader(path: TarPath, linkpath: TarPath | undefined): Buffer | null {
  if (isText(path) && (linkpath === undefined || isText(linkpath))) return null;
  const records = Buffer.concat([
    paxRecord('path', path),
    ...(linkpath === undefined ? [] : [paxRecord('linkpath', linkpath)]),
  ]);
  const block = Buffer.alloc(512);
  block.write('PaxHeader');
  block.write(`0000644\0${'0000000\0'.repeat(2)}`, 100);
  block.write(`${records.length.toString(8).padStart(11, '0')}\0${'0'.repeat(11)}\0`, 124);
  block.write(`${' '.repeat(8)}x`, 148);
  block.write('ustar\x0000', 257);
  const sum = block.reduce((all, byte) => all + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return Buffer.concat([block, records, Buffer.alloc((512 - (records.length % 512)) % 512)]);
}

const isText = (path: TarPath): boolean => typeof path === 'string' || isUtf8(path);

/** `<length> <key>=<value>\n`; the length counts its own digits. */
function paxRecord(key: string, value: TarPath): Buffer {
  const rest = Buffer.concat([Buffer.from(` ${key}=`), Buffer.from(value as string), Buffer.from('\n')]);
  let length = rest.length;
  while (String(length).length + rest.length !== length) length = String(length).length + rest.length;
  return Buffer.concat([Buffer.from(String(length)), rest]);
}

function timeOf(mtime: Date | undefined): { mtime?: Date } {
  return mtime ? { mtime } : {};
}

/** The entries of a tar archive in their order. Throws when the archive breaks off. Each entry must be read or resumed. */
export async function* entriesOf(tar: Readable): AsyncGenerator<Entry> {
  const entries = extract();
  const source = Readable.from(untilEnd(tar), { objectMode: false });
  source.on('error', (error) => entries.destroy(error));
  source.pipe(entries);
  try {
    yield* entries;
  } finally {
    source.destroy();
    tar.destroy();
    entries.destroy();
  }
}

/** A sender that fails may end its answer as if it were complete. */
async function* untilEnd(tar: Readable): AsyncGenerator<Buffer> {
  let tail: Buffer = Buffer.alloc(0);
  for await (const chunk of tar as AsyncIterable<Buffer>) {
    tail = chunk.length >= END_BYTES ? chunk.subarray(-END_BYTES) : Buffer.concat([tail, chunk]).subarray(-END_BYTES);
    yield chunk;
  }
  if (tail.length < END_BYTES || tail.some((byte) => byte !== 0)) throw new Error('the archive breaks off');
}

/** Passes the chunks on, and tells the size of each. */
export async function* counted(
  chunks: AsyncIterable<Buffer>,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    onBytes(chunk.length);
    yield chunk;
  }
}

/** A folder and what lies in it. */
export function joinedPath(folder: TarPath, path: TarPath): TarPath {
  if (typeof folder === 'string' && typeof path === 'string') return `${folder}/${path}`;
  return Buffer.concat([Buffer.from(folder as string), Buffer.from('/'), Buffer.from(path as string)]);
}

/** Throws when a relative path cannot be that of a file in a container. */
export function checkPath(given: TarPath): void {
  // A character for a byte.
  const bytes = (typeof given === 'string' ? Buffer.from(given) : given).toString('latin1');
  const isBad = (name: string) =>
    name === '' || name === '.' || name === '..' || name.length > MAX_NAME_BYTES || name.includes('\0');
  if (!bytes.split('/').some(isBad)) return;
  const path = typeof given === 'string' ? given : pathText(given);
  const shown = path.length > 200 ? `${path.slice(0, 199)}…` : path;
  throw new TransferError(
    text('{{path}} cannot be a file: a name in it is empty, "." or "..", or longer than 255 bytes', {
      path: JSON.stringify(shown),
    }),
    'final',
  );
}
