import { once } from 'node:events';
import { Readable } from 'node:stream';
import { text } from '@stagi/contract/text.ts';
import { type Entry, extract, type Headers, pack } from 'tar-stream';
import type { ArchiveEngine } from './dockerArchive.ts';
import { TransferError } from './transferError.ts';

/** What Linux allows in one name. */
export const MAX_NAME_BYTES = 255;
/** A tar archive ends with two empty blocks. */
const END_BYTES = 1024;

/** Writes the entries of a tar archive, one after another. */
export interface TarWriter {
  directory(path: string, mode: number): Promise<void>;
  link(path: string, to: string, mtime?: Date): Promise<void>;
  file(path: string, about: { size: number; mode: number; mtime?: Date }, chunks: AsyncIterable<Buffer>): Promise<void>;
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
  function add(header: Headers): { sink: NodeJS.WritableStream; written: Promise<void> } {
    const { promise: written, resolve, reject } = Promise.withResolvers<void>();
    const sink = tar.entry(header, (error) => (error ? reject(error) : resolve()));
    sink.on('error', () => {});
    written.catch(() => {});
    return { sink, written };
  }
  return {
    directory: (name, mode) => add({ name: `${name}/`, type: 'directory', mode }).written,
    link: (name, linkname, mtime) => add({ name, linkname, type: 'symlink', mode: 0o777, ...timeOf(mtime) }).written,
    async file(name, { size, mode, mtime }, chunks) {
      signal.throwIfAborted();
      const { sink, written } = add({ name, type: 'file', size, mode, ...timeOf(mtime) });
      for await (const chunk of chunks) if (!sink.write(chunk)) await once(sink, 'drain', { signal });
      sink.end();
      await written;
    },
  };
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

/** Throws when a relative path cannot be that of a file in a container. */
export function checkPath(path: string): void {
  const isBad = (name: string) =>
    name === '' || name === '.' || name === '..' || Buffer.byteLength(name) > MAX_NAME_BYTES || name.includes('\0');
  if (!path.split('/').some(isBad)) return;
  const shown = path.length > 200 ? `${path.slice(0, 199)}…` : path;
  throw new TransferError(
    text('{{path}} cannot be a file: a name in it is empty, "." or "..", or longer than 255 bytes', {
      path: JSON.stringify(shown),
    }),
    'final',
  );
}
