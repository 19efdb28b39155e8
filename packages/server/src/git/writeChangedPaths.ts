import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathHash } from './bloom.ts';
import { ALL, changedPathsFile, FOLDER, HEADER_BYTES, listsIn, MAGIC, PREFIX } from './changedPaths.ts';
import type { CommitGraph, GraphLayer } from './commitGraph.ts';
import { GitError, spawnGit } from './run.ts';

/** Of a commit that changed more, only that is kept. */
const MAX_PATHS = 512;
/** A larger history gets no lists: the filters of its graph have to do. */
const MAX_COMMITS = 1_000_000;
const BUILD_MS = 600_000;

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
