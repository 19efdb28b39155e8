import { randomBytes } from 'node:crypto';

const MiB = 1024 * 1024;

/** So many MiB that do not compress, and of which no part is another. */
export function noise(mebibytes: number): Buffer {
  const block = randomBytes(MiB);
  return Buffer.concat(
    Array.from({ length: mebibytes }, (_, n) => {
      const part = Buffer.from(block);
      part.writeUInt32LE(n, 0);
      return part;
    }),
  );
}
