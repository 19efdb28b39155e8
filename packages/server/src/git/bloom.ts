const SEED_ONE = 0x293ae76f;
const SEED_TWO = 0x7e646e2c;

/** A path as the filters of a commit-graph know it. */
export interface BloomKey {
  one: number;
  two: number;
}

/** The hash of a path in our own lists (`changedPaths.ts`). */
export const pathHash = (path: Buffer): number => murmur3(SEED_ONE, path);

/** A filter of one commit: a few bytes in the file of a commit-graph. */
export interface BloomFilter {
  data: Buffer;
  start: number;
  length: number;
  hashesPerPath: number;
}

/** The key of a path, or null for one that is not ASCII, which versions of git hash differently. */
export function bloomKey(path: Buffer): BloomKey | null {
  if (path.some((byte) => byte > 127)) return null;
  return { one: murmur3(SEED_ONE, path), two: murmur3(SEED_TWO, path) };
}

/** False: certainly not in the filter. */
export function mayContain({ data, start, length, hashesPerPath }: BloomFilter, { one, two }: BloomKey): boolean {
  const bits = length * 8;
  for (let n = 0; n < hashesPerPath; n += 1) {
    const bit = ((one + Math.imul(n, two)) >>> 0) % bits;
    if (((data[start + (bit >>> 3)]! >>> (bit & 7)) & 1) === 0) return false;
  }
  return true;
}

/** MurmurHash3 for 32 bits, by Austin Appleby (public domain). */
export function murmur3(seed: number, data: Buffer): number {
  const C1 = 0xcc9e2d51;
  const C2 = 0x1b873593;
  const mix = (k: number): number => {
    const a = Math.imul(k, C1);
    return Math.imul((a << 15) | (a >>> 17), C2);
  };
  let hash = seed;
  const whole = data.length - (data.length % 4);
  for (let at = 0; at < whole; at += 4) {
    hash ^= mix(data.readInt32LE(at));
    hash = (hash << 13) | (hash >>> 19);
    hash = (Math.imul(hash, 5) + 0xe6546b64) | 0;
  }
  if (whole < data.length) {
    let rest = 0;
    for (let at = data.length - 1; at >= whole; at -= 1) rest = (rest << 8) | data[at]!;
    hash ^= mix(rest);
  }
  hash ^= data.length;
  hash ^= hash >>> 16;
  hash = Math.imul(hash, 0x85ebca6b);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0xc2b2ae35);
  hash ^= hash >>> 16;
  return hash >>> 0;
}
