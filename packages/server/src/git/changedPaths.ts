import { join } from 'node:path';

/**
 * For each commit of one file of the commit-graph, the hashes of the paths and folders that it changed against its first
 * parent. The filters of the graph say "maybe" too often for the dozens of old entries of a root folder; these are exact
 * but for one in four billion.
 *
 * File: magic, count, where each list ends, the commits' hashes (20 bytes each), the lists. Numbers are 32 bits, in the
 * order of this machine's memory.
 */
export interface ChangedPaths {
  /** Null: too many, or unknown; anything may have changed. */
  of(index: number): Uint32Array | null;
  /** Whether one of these paths may have changed. */
  touches(index: number, paths: ReadonlySet<number>): boolean;
}

export const FOLDER = 'stagi';
export const PREFIX = 'changed-paths-';
export const MAGIC = 0x31504353;
export const HEADER_BYTES = 8;
const HASH_BYTES = 20;
/** Stands alone in the list of a commit that changed more than is kept. */
export const ALL = 0xffffffff;

export const changedPathsFile = (gitDir: string, layer: string): string => join(gitDir, FOLDER, `${PREFIX}${layer}`);

/** Null: not such a file, or of another number of commits. */
export function readChangedPaths(data: Buffer, count: number): ChangedPaths | null {
  const lists = listsIn(data);
  if (!lists || lists.count !== count) return null;
  return lists;
}

/** Null: no such file. */
export function listsIn(data: Buffer): (ChangedPaths & { count: number; hash(index: number): string }) | null {
  if (data.length < HEADER_BYTES || data.readUInt32LE(0) !== MAGIC) return null;
  const count = data.readUInt32LE(4);
  const hashesAt = HEADER_BYTES + count * 4;
  const listsAt = hashesAt + count * HASH_BYTES;
  if (data.length < listsAt) return null;
  // A copy, as a view needs an address that is divisible by four.
  const bytes = new Uint8Array(data);
  const ends = new Uint32Array(bytes.buffer, HEADER_BYTES, count);
  const all = new Uint32Array(bytes.buffer, listsAt, (data.length - listsAt) >> 2);
  return {
    count,
    hash: (index) => data.toString('hex', hashesAt + index * HASH_BYTES, hashesAt + (index + 1) * HASH_BYTES),
    of(index) {
      const start = index === 0 ? 0 : ends[index - 1]!;
      const end = ends[index]!;
      return end - start === 1 && all[start] === ALL ? null : all.subarray(start, end);
    },
    touches(index, paths) {
      const end = ends[index]!;
      for (let at = index === 0 ? 0 : ends[index - 1]!; at < end; at += 1)
        if (all[at] === ALL || paths.has(all[at]!)) return true;
      return false;
    },
  };
}
