import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathHash } from './bloom.ts';
import type { CommitGraph, GraphLayer } from './commitGraph.ts';
import { GitError, spawnGit } from './run.ts';

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
}

const FOLDER = 'stagi';
const PREFIX = 'changed-paths-';
const MAGIC = 0x31504353;
const HEADER_BYTES = 8;
const HASH_BYTES = 20;
/** Stands alone in the list of a commit that changed more than is kept. */
const ALL = 0xffffffff;
const MAX_PATHS = 512;
const MAX_COMMITS = 1_000_000;
const BUILD_MS = 600_000;

export const changedPathsFile = (gitDir: string, layer: string): string => join(gitDir, FOLDER, `${PREFIX}${layer}`);

/** Null: not such a file, or of another number of commits. */
export function readChangedPaths(data: Buffer, count: number): ChangedPaths | null {
  const lists = listsIn(data);
  if (!lists || lists.count !== count) return null;
  return { of: lists.of };
}

function listsIn(data: Buffer): (ChangedPaths & { count: number; hash(index: number): string }) | null {
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
  };
}

/** Writes what is missing for the files of a commit-graph, and removes what belongs to none of them. */
export async function writeChangedPaths(gitDir: string, graph: CommitGraph, signal?: AbortSignal): Promise<void> {
  const missing = graph.layers.filter(({ changedPaths }) => changedPaths === null);
  if (missing.length === 0 || graph.layers.reduce((sum, { count }) => sum + count, 0) > MAX_COMMITS) return;
  const folder = join(gitDir, FOLDER);
  await mkdir(folder, { recursive: true });
  const names = (await readdir(folder)).filter((name) => name.startsWith(PREFIX));
  const current = new Set(graph.layers.map(({ id }) => `${PREFIX}${id}`));
  const outdated = names.filter((name) => !current.has(name) && !name.endsWith('.new'));
  // Files of the graph are merged from time to time: what is known of their commits stays true.
  const known = await readKnown(outdated.map((name) => join(folder, name)));
  for (const layer of missing) {
    const lists = await collect(gitDir, graph, layer, known, signal);
    const file = changedPathsFile(gitDir, layer.id);
    await writeFile(`${file}.new`, serialize(graph, layer, lists));
    await rename(`${file}.new`, file);
  }
  await Promise.all(outdated.map((name) => rm(join(folder, name), { force: true })));
}

async function readKnown(files: readonly string[]): Promise<Map<string, Uint32Array>> {
  const known = new Map<string, Uint32Array>();
  for (const file of files) {
    const lists = listsIn(await readFile(file));
    if (!lists) continue;
    for (let n = 0; n < lists.count; n += 1) known.set(lists.hash(n), lists.of(n) ?? Uint32Array.of(ALL));
  }
  return known;
}

async function collect(
  gitDir: string,
  graph: CommitGraph,
  layer: GraphLayer,
  known: ReadonlyMap<string, Uint32Array>,
  signal: AbortSignal | undefined,
): Promise<Map<string, Uint32Array>> {
  const lists = new Map<string, Uint32Array>();
  const asked: string[] = [];
  for (let n = 0; n < layer.count; n += 1) {
    const position = layer.first + n;
    const sha = graph.hash(position);
    const before = known.get(sha);
    const parents = graph.parents(position);
    if (before) lists.set(sha, before);
    // More than two parents are rare.
    else if (!parents) lists.set(sha, Uint32Array.of(ALL));
    else asked.push(parents.length > 0 ? `${sha} ${graph.hash(parents[0]!)}` : sha);
  }
  if (asked.length > 0) await diffEach(gitDir, asked, lists, signal);
  return lists;
}

/** Lines are a commit and what it is compared with, or a commit without parents. */
function diffEach(
  gitDir: string,
  lines: readonly string[],
  lists: Map<string, Uint32Array>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const child = spawnGit(gitDir, [
    'diff-tree',
    '--stdin',
    '--root',
    '-r',
    '-z',
    '--raw',
    '--no-renames',
    '--no-abbrev',
  ]);
  const parser = createRawParser((sha, paths) => lists.set(sha, paths));
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => parser.write(chunk));
  child.stderr.on('data', (chunk: Buffer) => {
    if (stderr.length < 2_000) stderr += chunk.toString();
  });
  child.stdin.on('error', () => {});
  child.stdin.end(`${lines.join('\n')}\n`);
  const timer = setTimeout(() => child.kill('SIGKILL'), BUILD_MS);
  const abort = (): void => void child.kill('SIGKILL');
  signal?.addEventListener('abort', abort, { once: true });
  return new Promise((resolve, reject) => {
    child.once('error', (cause) => reject(new GitError('not-started', 'diff-tree', { cause })));
    child.once('close', (code) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      if (code !== 0) {
        reject(new GitError(signal?.aborted ? 'aborted' : 'exit', 'diff-tree', { code, stderr: stderr.trim() }));
        return;
      }
      parser.end();
      resolve();
    });
  });
}

/** `<hash>\0`, then `:<modes, hashes, status>\0<path>\0` for each path. A commit that changed nothing is not named. */
export function createRawParser(found: (sha: string, hashes: Uint32Array) => void): {
  write(chunk: Buffer): void;
  end(): void;
} {
  let rest: Buffer = Buffer.alloc(0);
  let commit: string | null = null;
  let isPath = false;
  let hashes = new Set<number>();
  const finish = (): void => {
    if (commit) found(commit, hashes.size > MAX_PATHS ? Uint32Array.of(ALL) : Uint32Array.from(hashes));
    hashes = new Set();
  };
  return {
    write(chunk) {
      const data = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
      let at = 0;
      for (let end = data.indexOf(0, at); end !== -1; end = data.indexOf(0, at)) {
        const token = data.subarray(at, end);
        at = end + 1;
        if (isPath) {
          isPath = false;
          if (hashes.size <= MAX_PATHS) addPath(hashes, token);
        } else if (token[0] === 0x3a) isPath = true;
        else {
          finish();
          commit = token.toString('latin1');
        }
      }
      rest = Buffer.from(data.subarray(at));
    },
    end: finish,
  };
}

/** The path and each folder above it. */
function addPath(hashes: Set<number>, path: Buffer): void {
  hashes.add(pathHash(path));
  for (let slash = path.lastIndexOf(0x2f); slash > 0; slash = path.lastIndexOf(0x2f, slash - 1))
    hashes.add(pathHash(path.subarray(0, slash)));
}

function serialize(graph: CommitGraph, { first, count }: GraphLayer, lists: ReadonlyMap<string, Uint32Array>): Buffer {
  const none = new Uint32Array(0);
  const shas = Array.from({ length: count }, (_, n) => graph.hash(first + n));
  const all = shas.map((sha) => lists.get(sha) ?? none);
  const ends = new Uint32Array(count);
  let end = 0;
  for (const [n, list] of all.entries()) {
    end += list.length;
    ends[n] = end;
  }
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32LE(MAGIC, 0);
  header.writeUInt32LE(count, 4);
  const bytesOf = (list: Uint32Array): Buffer => Buffer.from(list.buffer, list.byteOffset, list.byteLength);
  return Buffer.concat([header, bytesOf(ends), Buffer.from(shas.join(''), 'hex'), ...all.map(bytesOf)]);
}
