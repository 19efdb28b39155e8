import type { Duplex } from 'node:stream';

/**
 * Has a stream of HTTP/2 get texts as bytes. Node 26 sends bytes of freed memory in place of the first 16 of a text that
 * is written together with further chunks (corked, or while the stream is busy).
 */
export function bytesOnly<Stream extends Duplex>(stream: Stream): Stream {
  for (const method of ['write', 'end'] as const) {
    const original = stream[method] as (...given: unknown[]) => unknown;
    const withBytes = (chunk: unknown, ...rest: unknown[]): unknown => {
      const encoding = typeof rest[0] === 'string' ? (rest[0] as BufferEncoding) : 'utf8';
      return original.call(stream, typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk, ...rest);
    };
    Object.assign(stream, { [method]: withBytes });
  }
  return stream;
}
