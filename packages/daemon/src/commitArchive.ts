import type { Readable } from 'node:stream';

/**
 * An entry of an archive of `git archive` (POSIX.1-2017 pax, "ustar Interchange Format" and "pax Header Block"). Names
 * are bytes: tar-stream reads those of a pax header as UTF-8, so that two names would become one.
 */
export interface ArchiveEntry {
  /** Without a slash at the end. */
  path: Buffer;
  type: 'file' | 'symlink' | 'directory' | 'other';
  mode: number;
  mtime: Date;
  size: number;
  /** Where a symbolic link leads; else empty. */
  target: Buffer;
  /** The content of a file; what is not read is passed over before the next entry. */
  content: AsyncIterable<Buffer>;
}

const BLOCK = 512;
/** A path in a pax header is far below it. */
const MAX_PAX_BYTES = 1024 * 1024;
const CHECKSUM = { at: 148, end: 156 };
const TYPES: Record<string, ArchiveEntry['type']> = {
  '0': 'file',
  '\0': 'file',
  '2': 'symlink',
  '5': 'directory',
};

/** The entries in their order. Throws when the archive breaks off or is none. */
export async function* archiveEntries(source: Readable): AsyncGenerator<ArchiveEntry> {
  const bytes = byteReader(source);
  try {
    let pax: ReadonlyMap<string, Buffer> = new Map();
    for (let block = await bytes.exactly(BLOCK); !isZero(block); block = await bytes.exactly(BLOCK)) {
      const header = readHeader(block);
      if (header.flag === 'x' || header.flag === 'g') {
        if (header.size > MAX_PAX_BYTES) throw new Error('a header of the archive is too large');
        const records = readPax(await bytes.exactly(header.size));
        await bytes.skip(padding(header.size));
        // One for the whole archive names the commit, which nothing here needs.
        if (header.flag === 'x') pax = records;
        continue;
      }
      const path = pax.get('path') ?? header.path;
      const size = pax.has('size') ? Number(pax.get('size')!.toString('latin1')) : header.size;
      const content = bytes.stream(size);
      yield {
        path: path.at(-1) === SLASH ? path.subarray(0, -1) : path,
        type: TYPES[header.flag] ?? 'other',
        mode: header.mode,
        mtime: header.mtime,
        size,
        target: pax.get('linkpath') ?? header.target,
        content,
      };
      for await (const _ of content);
      await bytes.skip(padding(size));
      pax = new Map();
    }
    if (!isZero(await bytes.exactly(BLOCK))) throw new Error('the archive has an empty header');
    await bytes.drain();
  } finally {
    source.destroy();
  }
}

const SLASH = 0x2f;
const isZero = (block: Buffer): boolean => block.every((byte) => byte === 0);
const padding = (size: number): number => (BLOCK - (size % BLOCK)) % BLOCK;

function readHeader(block: Buffer) {
  const sum = block.reduce((all, byte, at) => all + (at >= CHECKSUM.at && at < CHECKSUM.end ? 0x20 : byte), 0);
  if (sum !== octal(block.subarray(CHECKSUM.at, CHECKSUM.end))) throw new Error('a header of the archive is damaged');
  const [name, prefix] = [field(block, 0, 100), field(block, 345, 155)];
  return {
    path: prefix.length > 0 ? Buffer.concat([prefix, Buffer.from('/'), name]) : name,
    mode: octal(block.subarray(100, 108)),
    size: octal(block.subarray(124, 136)),
    mtime: new Date(octal(block.subarray(136, 148)) * 1000),
    flag: block.toString('latin1', 156, 157),
    target: field(block, 157, 100),
  };
}

/** A copy, as the block is part of a chunk. */
function field(block: Buffer, at: number, length: number): Buffer {
  const bytes = block.subarray(at, at + length);
  const end = bytes.indexOf(0);
  return Buffer.from(end < 0 ? bytes : bytes.subarray(0, end));
}

function octal(bytes: Buffer): number {
  const [digits] = /^[0-7]+/.exec(bytes.toString('latin1').trimStart()) ?? ['0'];
  return Number.parseInt(digits, 8);
}

/** `<length> <key>=<value>\n`, again and again; the length counts itself. */
function readPax(bytes: Buffer): Map<string, Buffer> {
  const records = new Map<string, Buffer>();
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(' ', at);
    const equals = bytes.indexOf('=', space);
    const end = at + Number(bytes.toString('latin1', at, space));
    if (space < 0 || equals < 0 || !(end > equals) || end > bytes.length)
      throw new Error('a header of the archive is damaged');
    records.set(bytes.toString('latin1', space + 1, equals), Buffer.from(bytes.subarray(equals + 1, end - 1)));
    at = end;
  }
  return records;
}

/** Reads a stream in parts of given sizes. */
function byteReader(source: Readable) {
  const chunks = (source as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);

  /** At least a byte and at most so many. */
  async function some(most: number): Promise<Buffer> {
    while (rest.length === 0) {
      const { value, done } = await chunks.next();
      if (done) throw new Error('the archive breaks off');
      rest = value;
    }
    const part = rest.subarray(0, most);
    rest = rest.subarray(part.length);
    return part;
  }
  async function* stream(size: number): AsyncGenerator<Buffer> {
    for (let missing = size; missing > 0; ) {
      const part = await some(missing);
      missing -= part.length;
      yield part;
    }
  }
  return {
    stream(size: number): AsyncIterable<Buffer> {
      const parts = stream(size);
      // Whoever stops in the middle must not end it: the rest is passed over later.
      return { [Symbol.asyncIterator]: () => ({ next: () => parts.next() }) };
    },
    async exactly(size: number): Promise<Buffer> {
      const parts: Buffer[] = [];
      for await (const part of stream(size)) parts.push(part);
      return Buffer.concat(parts);
    },
    async skip(size: number): Promise<void> {
      for await (const _ of stream(size));
    },
    async drain(): Promise<void> {
      while (!(await chunks.next()).done);
    },
  };
}
