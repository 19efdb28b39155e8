import { createHash, timingSafeEqual } from 'node:crypto';
import type { ChunkSeed } from './authenticate.ts';
import { S3Error } from './errors.ts';
import { hmac, scopeText, sha256 } from './signature.ts';

/**
 * The content encoding `aws-chunked`: chunks with a size in hex, each signed or not, and trailers.
 * Source: https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming.html and sigv4-streaming-trailers.html
 */
const MAX_LINE_BYTES = 4_096;
const MAX_TRAILER_LINES = 10;
/** S3 has no limit; a signed chunk is kept in memory until its signature is known. */
const MAX_SIGNED_CHUNK_BYTES = 16 * 1024 * 1024;
const EMPTY_SHA256 = sha256('');

interface Decoding {
  /** Null: chunks are not signed. */
  seed: ChunkSeed | null;
  hasTrailer: boolean;
  /** Filled at the end, lower-case. */
  trailers: Map<string, string>;
}

export async function* decodeChunks(source: AsyncIterable<Buffer>, decoding: Decoding): AsyncGenerator<Buffer> {
  const reader = new ByteReader(source);
  let previous = decoding.seed?.signature ?? '';
  for (;;) {
    const { size, signature } = chunkHeader(await reader.line(), decoding.seed !== null);
    if (decoding.seed) {
      const data = await reader.exactly(size);
      const expected = chunkSignature(decoding.seed, previous, data);
      requireSame(expected, signature);
      previous = expected;
      for (const part of data) yield part;
    } else yield* reader.stream(size);
    if (size === 0) break;
    if ((await reader.line()) !== '') throw malformed();
  }
  if (decoding.hasTrailer) await readTrailers(reader, decoding, previous);
  else if ((await reader.line()) !== '') throw malformed();
  await reader.end();
}

function chunkHeader(line: string, isSigned: boolean): { size: number; signature: string } {
  const [, hex, signature] = /^([0-9a-fA-F]{1,9})(?:;chunk-signature=([0-9a-f]{64}))?$/.exec(line) ?? [];
  if (!hex || (isSigned && !signature)) throw malformed();
  const size = Number.parseInt(hex, 16);
  if (isSigned && size > MAX_SIGNED_CHUNK_BYTES)
    throw new S3Error('InvalidRequest', `A signed chunk has at most ${MAX_SIGNED_CHUNK_BYTES} bytes`);
  return { size, signature: signature ?? '' };
}

function chunkSignature(seed: ChunkSeed, previous: string, data: readonly Buffer[]): string {
  const hash = createHash('sha256');
  for (const part of data) hash.update(part);
  const text = [
    'AWS4-HMAC-SHA256-PAYLOAD',
    seed.timestamp,
    scopeText(seed.scope),
    previous,
    EMPTY_SHA256,
    hash.digest('hex'),
  ].join('\n');
  return hmac(seed.signingKey, text).toString('hex');
}

async function readTrailers(reader: ByteReader, { seed, trailers }: Decoding, previous: string): Promise<void> {
  let signed = '';
  let signature: string | null = null;
  for (let lines = 0; ; lines++) {
    const line = await reader.line();
    if (line === '') break;
    if (lines >= MAX_TRAILER_LINES) throw malformed();
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(colon, 0));
    if (!/^[A-Za-z0-9-]{1,100}$/.test(name)) throw malformed();
    const value = line.slice(colon + 1).trim();
    // Within a value it would make two of the signed lines out of one.
    if (/[\r\n]/.test(value)) throw malformed();
    if (name.toLowerCase() === 'x-amz-trailer-signature') signature = value;
    else {
      if (trailers.has(name.toLowerCase())) throw malformed();
      trailers.set(name.toLowerCase(), value);
      signed += `${name.toLowerCase()}:${value}\n`;
    }
  }
  if (!seed) return;
  const text = ['AWS4-HMAC-SHA256-TRAILER', seed.timestamp, scopeText(seed.scope), previous, sha256(signed)].join('\n');
  // The blank line may come before the signature.
  if (signature === null) {
    const line = await reader.line();
    signature = /^x-amz-trailer-signature:\s*([0-9a-f]{64})$/i.exec(line)?.[1] ?? '';
    await reader.line();
  }
  requireSame(hmac(seed.signingKey, text).toString('hex'), signature);
}

function requireSame(expected: string, given: string): void {
  if (expected.length !== given.length || !timingSafeEqual(Buffer.from(expected), Buffer.from(given)))
    throw new S3Error('SignatureDoesNotMatch', 'The signature of a chunk or trailer does not match');
}

const malformed = (): S3Error => new S3Error('InvalidRequest', 'The body is not valid aws-chunked content');

/** Reads lines and counted bytes from a stream of buffers, without copying them. */
class ByteReader {
  readonly #source: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);
  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Up to CRLF; at the end of the stream an empty one. */
  async line(): Promise<string> {
    for (;;) {
      const at = this.#rest.indexOf('\r\n');
      if (at > MAX_LINE_BYTES || (at < 0 && this.#rest.length > MAX_LINE_BYTES)) throw malformed();
      if (at >= 0) {
        const line = this.#rest.subarray(0, at).toString('latin1');
        this.#rest = this.#rest.subarray(at + 2);
        return line;
      }
      const next = await this.#source.next();
      if (next.done) {
        if (this.#rest.length === 0) return '';
        throw new S3Error('IncompleteBody');
      }
      this.#rest = this.#rest.length === 0 ? next.value : Buffer.concat([this.#rest, next.value]);
    }
  }

  async *stream(size: number): AsyncGenerator<Buffer> {
    let left = size;
    while (left > 0) {
      if (this.#rest.length === 0) {
        const next = await this.#source.next();
        if (next.done) throw new S3Error('IncompleteBody');
        this.#rest = next.value;
      }
      const part = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(part.length);
      left -= part.length;
      yield part;
    }
  }

  async exactly(size: number): Promise<Buffer[]> {
    const parts: Buffer[] = [];
    for await (const part of this.stream(size)) parts.push(part);
    return parts;
  }

  async end(): Promise<void> {
    if (this.#rest.length > 0) throw malformed();
    for (;;) {
      const next = await this.#source.next();
      if (next.done) return;
      if (next.value.length > 0) throw malformed();
    }
  }
}
