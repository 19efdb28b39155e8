import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { BloomFilter } from './bloom.ts';
import { type ChangedPaths, changedPathsFile, readChangedPaths } from './changedPaths.ts';

/** Where a commit stands in the graph. */
export type Position = number;

/**
 * The commit-graph of a repository: the parents and trees of its commits without reading the commits, and for most of
 * them which paths they did not change. Commits that came after it was written are absent.
 */
export interface CommitGraph {
  /** Tells one written graph from the next. */
  readonly key: string;
  find(sha: string): Position | null;
  hash(position: Position): string;
  tree(position: Position): string;
  /** Null: more than two, which are rare; read the commit. */
  parents(position: Position): Position[] | null;
  /** The filter of the paths that this commit changed against its first parent; null: not computed. */
  filter(position: Position): BloomFilter | null;
  /** Hashes of these paths; null: unknown, ask the filter. */
  changedPaths(position: Position): Uint32Array | null;
  /**
   * Follows first parents from a commit over those that changed none of these paths: to the first that may have, to
   * `stop`, or past `most` commits.
   */
  passUnchanged(
    from: Position,
    paths: ReadonlySet<number>,
    { stop, most }: { stop: Position | null; most: number },
  ): { position: Position; passed: number };
  readonly layers: readonly GraphLayer[];
}

/** One file. With a chain of files, positions count on from the file before. */
export interface GraphLayer {
  /** The hash of the file. */
  id: string;
  first: number;
  count: number;
  /** Null: not written yet. */
  changedPaths: ChangedPaths | null;
}
interface Layer extends GraphLayer {
  data: Buffer;
  fanout: number;
  hashes: number;
  commits: number;
  bloomIndex: number | null;
  bloomData: number;
  hashesPerPath: number | null;
}

const HASH_BYTES = 20;
const COMMIT_BYTES = HASH_BYTES + 16;
const NO_PARENT = 0x70000000;
const MORE_PARENTS = 0x80000000;
const CHUNK_TABLE = 8;
const BLOOM_HEADER_BYTES = 12;
/** Larger ones are not read into memory: pages of such a repository are slower. */
const MAX_BYTES = 512 * 1024 * 1024;

/** Reads the graph, unless `known` is still the one on disk. The format is that of gitformat-commit-graph(5). */
export async function openCommitGraph(gitDir: string, known: CommitGraph | null): Promise<CommitGraph | null> {
  const files = await graphFiles(gitDir);
  if (files.length === 0) return null;
  const stats = await Promise.all(files.map((file) => stat(file).catch(absentIsNull)));
  // A new chain has replaced it meanwhile: the next reader finds that one.
  if (stats.some((found) => found === null)) return known;
  const key = files.map((file, n) => `${file}:${stats[n]!.ino}:${stats[n]!.mtimeMs}:${stats[n]!.size}`).join('|');
  if (known?.key === key && !(await isMoreKnown(gitDir, known))) return known;
  if (stats.reduce((sum, found) => sum + found!.size, 0) > MAX_BYTES) return null;
  const contents = await Promise.all(files.map((file) => readFile(file).catch(absentIsNull)));
  if (contents.some((content) => content === null)) return known;
  const layers: Layer[] = [];
  for (const data of contents) {
    const last = layers.at(-1);
    const layer = readLayer(data!, last ? last.first + last.count : 0);
    if (!layer) return null;
    const lists = await readFile(changedPathsFile(gitDir, layer.id)).catch(absentIsNull);
    if (lists) layer.changedPaths = readChangedPaths(lists, layer.count);
    layers.push(layer);
  }
  return graphOf(key, layers);
}

/** Whether the lists of changed paths were written since. */
async function isMoreKnown(gitDir: string, { layers }: CommitGraph): Promise<boolean> {
  const missing = layers.filter(({ changedPaths }) => changedPaths === null);
  const files = await Promise.all(missing.map(({ id }) => stat(changedPathsFile(gitDir, id)).catch(absentIsNull)));
  return files.some((file) => file !== null);
}

/** The oldest first. */
async function graphFiles(gitDir: string): Promise<string[]> {
  const info = join(gitDir, 'objects/info');
  const chain = await readFile(join(info, 'commit-graphs/commit-graph-chain'), 'latin1').catch(absentIsNull);
  const single = join(info, 'commit-graph');
  // Git prefers the single file, too.
  if (await stat(single).catch(absentIsNull)) return [single];
  const names = (chain ?? '').split('\n').filter((line) => /^[0-9a-f]{40}$/.test(line));
  return names.map((name) => join(info, `commit-graphs/graph-${name}.graph`));
}

function absentIsNull(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

/** Null: a version that is not known here. */
function readLayer(data: Buffer, first: number): Layer | null {
  if (data.length < CHUNK_TABLE || data.toString('latin1', 0, 4) !== 'CGPH' || data[4] !== 1 || data[5] !== 1)
    return null;
  const chunks = new Map<string, number>();
  const count = data[6]!;
  for (let n = 0; n < count; n += 1) {
    const at = CHUNK_TABLE + n * 12;
    chunks.set(data.toString('latin1', at, at + 4), Number(data.readBigUInt64BE(at + 4)));
  }
  const [fanout, hashes, commits] = [chunks.get('OIDF'), chunks.get('OIDL'), chunks.get('CDAT')];
  if (fanout === undefined || hashes === undefined || commits === undefined) return null;
  const bloomIndex = chunks.get('BIDX') ?? null;
  const bloom = chunks.get('BDAT');
  const hasFilters = bloomIndex !== null && bloom !== undefined;
  return {
    id: data.toString('hex', data.length - HASH_BYTES),
    changedPaths: null,
    data,
    first,
    count: data.readUInt32BE(fanout + 255 * 4),
    fanout,
    hashes,
    commits,
    bloomIndex,
    bloomData: (bloom ?? 0) + BLOOM_HEADER_BYTES,
    hashesPerPath: hasFilters ? data.readUInt32BE(bloom + 4) : null,
  };
}

function graphOf(key: string, layers: readonly Layer[]): CommitGraph {
  function layerOf(position: Position): Layer {
    for (let n = layers.length - 1; n >= 0; n -= 1) if (position >= layers[n]!.first) return layers[n]!;
    throw new Error(`no commit at ${position}`);
  }
  const commitAt = (layer: Layer, position: Position): number =>
    layer.commits + (position - layer.first) * COMMIT_BYTES;

  return {
    key,
    find(sha) {
      const wanted = Buffer.from(sha, 'hex');
      for (const layer of layers) {
        const found = search(layer, wanted);
        if (found !== null) return layer.first + found;
      }
      return null;
    },
    hash(position) {
      const layer = layerOf(position);
      const at = layer.hashes + (position - layer.first) * HASH_BYTES;
      return layer.data.toString('hex', at, at + HASH_BYTES);
    },
    tree(position) {
      const layer = layerOf(position);
      const at = commitAt(layer, position);
      return layer.data.toString('hex', at, at + HASH_BYTES);
    },
    parents(position) {
      const layer = layerOf(position);
      const at = commitAt(layer, position) + HASH_BYTES;
      const one = layer.data.readUInt32BE(at);
      const two = layer.data.readUInt32BE(at + 4);
      if (one === NO_PARENT) return [];
      if (two === NO_PARENT) return [one];
      return two >= MORE_PARENTS ? null : [one, two];
    },
    layers,
    passUnchanged(from, paths, { stop, most }) {
      let position = from;
      let layer = layerOf(from);
      let passed = 0;
      for (; passed < most && (passed === 0 || position !== stop); passed += 1) {
        if (position < layer.first) layer = layerOf(position);
        const n = position - layer.first;
        if (!layer.changedPaths || layer.changedPaths.touches(n, paths)) break;
        const parent = layer.data.readUInt32BE(layer.commits + n * COMMIT_BYTES + HASH_BYTES);
        if (parent === NO_PARENT) break;
        position = parent;
      }
      return { position, passed };
    },
    changedPaths(position) {
      const layer = layerOf(position);
      return layer.changedPaths?.of(position - layer.first) ?? null;
    },
    filter(position) {
      const layer = layerOf(position);
      if (layer.bloomIndex === null || layer.hashesPerPath === null) return null;
      const n = position - layer.first;
      const end = layer.data.readUInt32BE(layer.bloomIndex + n * 4);
      const start = n === 0 ? 0 : layer.data.readUInt32BE(layer.bloomIndex + (n - 1) * 4);
      if (start === end) return null;
      return {
        data: layer.data,
        start: layer.bloomData + start,
        length: end - start,
        hashesPerPath: layer.hashesPerPath,
      };
    },
  };
}

function search({ data, fanout, hashes }: Layer, wanted: Buffer): number | null {
  const firstByte = wanted[0]!;
  let low = firstByte === 0 ? 0 : data.readUInt32BE(fanout + (firstByte - 1) * 4);
  let high = data.readUInt32BE(fanout + firstByte * 4) - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const at = hashes + middle * HASH_BYTES;
    const order = data.compare(wanted, 0, HASH_BYTES, at, at + HASH_BYTES);
    if (order === 0) return middle;
    if (order < 0) low = middle + 1;
    else high = middle - 1;
  }
  return null;
}
