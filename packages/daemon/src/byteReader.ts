/** Reads a stream of bytes in pieces of chosen sizes. Throws when it ends too early. */
export interface ByteReader {
  read(bytes: number): Promise<Buffer>;
  skip(bytes: number): Promise<void>;
  /** Reads on to the end. */
  finish(): Promise<void>;
}

export function byteReader(chunks: AsyncIterable<Buffer>): ByteReader {
  const iterator = chunks[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);

  /** Passes the next bytes on as they come. */
  async function take(bytes: number, pass: (chunk: Buffer, at: number) => void): Promise<void> {
    for (let at = 0; at < bytes; ) {
      if (rest.length === 0) {
        const next = await iterator.next();
        if (next.done) throw new Error('the stream ends too early');
        rest = next.value;
      }
      const chunk = rest.subarray(0, bytes - at);
      pass(chunk, at);
      rest = rest.subarray(chunk.length);
      at += chunk.length;
    }
  }
  return {
    async read(bytes) {
      const whole = Buffer.allocUnsafeSlow(bytes);
      await take(bytes, (chunk, at) => chunk.copy(whole, at));
      return whole;
    },
    skip: (bytes) => take(bytes, () => {}),
    async finish() {
      while (!(await iterator.next()).done);
    },
  };
}
