import { type BloomKey, bloomKey, mayContain, pathHash } from './bloom.ts';
import type { CommitGraph, Position } from './commitGraph.ts';
import type { StoredEntry } from './parseObjects.ts';
import type { Repository } from './repositories.ts';
import { createSlice } from './slice.ts';

/** A commit on the way. It is not in the graph if it is newer. */
interface Node {
  position: Position | null;
  sha(): string;
}
interface Wanted {
  entry: StoredEntry;
  key: BloomKey | null;
  hash: number;
}
/** A commit that may have changed some entries against its first parent. */
interface Step {
  node: Node;
  parents: Node[];
  candidates: Wanted[];
}
interface Ahead {
  steps: Step[];
  /** The commit after the last one that was looked at; null: that was the first of the history. */
  next: Node | null;
  last: Node;
}
interface Folder {
  commit: string;
  /** From the root. */
  parts: readonly string[];
  entries: readonly StoredEntry[];
}
interface Table {
  commit: string;
  found: ReadonlyMap<string, string>;
}

const DEADLINE_MS = 2_500;
/** So many commits are passed, or so many folders read at once, before what was assumed is checked. */
const COMMITS_AHEAD = 4_096;
const FOLDERS_AHEAD = 128;
/** So many commits without a list make a walk slow. */
const MANY_UNLISTED = 1_000;
const NONE: Wanted[] = [];

/**
 * The last commit that changed each entry of a folder, by the entry's name: what `git log -1` finds for its path, found
 * for all entries in one walk. The walk follows an entry from a commit to a parent that has it unchanged; most commits
 * are passed by the filters of the commit-graph, the others are compared. An entry is missing in the answer if the time
 * was over.
 */
export async function findLastCommits(repository: Repository, folder: Folder): Promise<ReadonlyMap<string, string>> {
  return findOnce(repository, folder, `folder ${folder.parts.join('/')}`);
}

/** The last commit that changed the one entry. Null: not found in time. */
export async function findLastCommit(repository: Repository, folder: Folder): Promise<string | null> {
  const [entry] = folder.entries;
  if (!entry) return null;
  const found = await findOnce(repository, folder, `entry ${[...folder.parts, entry.name].join('/')}`);
  return found.get(entry.name) ?? null;
}

/** The answer for the newest commit helps with the next one. */
async function findOnce(repository: Repository, folder: Folder, newest: string): Promise<ReadonlyMap<string, string>> {
  const key = `${newest} ${folder.commit}`;
  const known = repository.facts.get(key) as Table | undefined;
  if (known) return known.found;
  const found = await walk(repository, folder, repository.facts.get(newest) as Table | undefined);
  if (found.size === folder.entries.length) {
    const table: Table = { commit: folder.commit, found };
    repository.facts.set(key, table);
    repository.facts.set(newest, table);
  }
  return found;
}

/** `known`: the answer for an older commit; what reaches it unchanged has the answer of there. */
async function walk(
  repository: Repository,
  { commit, parts, entries }: Folder,
  known: Table | undefined,
): Promise<Map<string, string>> {
  const graph = await repository.commitGraph();
  const knownPosition = known ? (graph?.find(known.commit) ?? null) : null;
  const found = new Map<string, string>();
  const slice = createSlice(DEADLINE_MS);
  const prefix = parts.map((part) => `${part}/`).join('');
  const folderKeys = parts.map((_, n) => bloomKey(Buffer.from(parts.slice(0, n + 1).join('/'))));
  const wanted: Wanted[] = [];
  const byHash = new Map<number, Wanted[]>();
  for (const entry of entries) {
    const path = Buffer.concat([Buffer.from(prefix), entry.nameBytes]);
    const one = { entry, key: bloomKey(path), hash: pathHash(path) };
    wanted.push(one);
    byHash.set(one.hash, [...(byHash.get(one.hash) ?? []), one]);
  }
  let unlisted = graph ? 0 : MANY_UNLISTED;
  const groups = [{ start: nodeOf(graph, commit), wanted }];

  walking: for (let group = groups.pop(); group; group = groups.pop()) {
    const open = new Set<Wanted>(group.wanted);
    for (let node: Node | null = group.start; node && open.size > 0; ) {
      if (known && isKnown(node)) {
        for (const one of open) {
          const sha = known.found.get(one.entry.name);
          if (sha) settle(one, sha);
        }
      }
      if (await slice.isOver()) break walking;
      const ahead: Ahead = await lookAhead(node, open);
      const folders = await Promise.all(ahead.steps.map(({ parents }) => folderOf(parents[0]!)));
      for (const [n, step] of ahead.steps.entries()) {
        const changed = step.candidates.filter((one) => open.has(one) && !isSame(folders[n]!, one));
        for (const one of changed) open.delete(one);
        if (changed.length > 0) await settleOrFollow(step, changed);
      }
      if (!ahead.next) for (const one of open) found.set(one.entry.name, ahead.last.sha());
      node = ahead.next;
    }

    function settle(one: Wanted, sha: string): void {
      open.delete(one);
      found.set(one.entry.name, sha);
    }
  }
  if (unlisted >= MANY_UNLISTED) repository.requestUpkeep();
  return found;

  /** Follows first parents, assuming that no candidate has changed: so the folders to compare are read at once. */
  async function lookAhead(from: Node, open: ReadonlySet<Wanted>): Promise<Ahead> {
    const steps: Step[] = [];
    const paths = new Set([...open].map(({ hash }) => hash));
    let node = from;
    for (let passed = 0; passed < COMMITS_AHEAD && steps.length < FOLDERS_AHEAD; passed += 1) {
      if (graph && node.position !== null) {
        const way = graph.passUnchanged(node.position, paths, { stop: knownPosition, most: COMMITS_AHEAD - passed });
        passed += way.passed;
        if (way.passed > 0) node = nodeAt(graph, way.position);
      }
      if (passed > 0 && known && isKnown(node)) break;
      const parents = graphParents(node) ?? (await readParents(node));
      if (parents.length === 0) return { steps, next: null, last: node };
      const candidates = candidatesOf(node, open);
      if (candidates.length > 0) steps.push({ node, parents, candidates });
      node = parents[0]!;
    }
    return { steps, next: node, last: node };
  }

  /** An entry that another parent has unchanged came from there; what no parent has is this commit's. */
  async function settleOrFollow({ node, parents }: Step, changed: readonly Wanted[]): Promise<void> {
    let left = changed;
    for (const parent of parents.slice(1)) {
      const folder = await folderOf(parent);
      const same = left.filter((one) => isSame(folder, one));
      if (same.length > 0) groups.push({ start: parent, wanted: same });
      left = left.filter((one) => !same.includes(one));
    }
    for (const { entry } of left) found.set(entry.name, node.sha());
  }

  function candidatesOf({ position }: Node, open: ReadonlySet<Wanted>): Wanted[] {
    if (!graph || position === null) return [...open];
    const changed = graph.changedPaths(position);
    if (!changed) return candidatesByFilter(graph, position, open);
    let candidates = NONE;
    for (const hash of changed) {
      const ones = byHash.get(hash)?.filter((one) => open.has(one));
      if (ones?.length) candidates = [...candidates, ...ones];
    }
    return candidates;
  }

  function candidatesByFilter(known: CommitGraph, position: Position, open: ReadonlySet<Wanted>): Wanted[] {
    unlisted += 1;
    const filter = known.filter(position);
    if (!filter) return [...open];
    for (const key of folderKeys) if (key && !mayContain(filter, key)) return NONE;
    return [...open].filter(({ key }) => !key || mayContain(filter, key));
  }

  function isKnown(node: Node): boolean {
    return node.position === null ? node.sha() === known?.commit : node.position === knownPosition;
  }

  /** Null: not in the graph, or with more parents than it says. */
  function graphParents({ position }: Node): Node[] | null {
    if (!graph || position === null) return null;
    return graph.parents(position)?.map((parent) => nodeAt(graph, parent)) ?? null;
  }

  async function readParents(node: Node): Promise<Node[]> {
    const read = await repository.commit(node.sha());
    return (read?.parents ?? []).map((sha) => nodeOf(graph, sha));
  }

  /** The entries of the folder in another commit; empty where it did not exist. */
  async function folderOf({ position, sha }: Node): Promise<ReadonlyMap<string, StoredEntry>> {
    let tree = graph && position !== null ? graph.tree(position) : ((await repository.commit(sha()))?.tree ?? null);
    for (const part of parts) {
      const parents: readonly StoredEntry[] = (tree && (await repository.tree(tree))) || [];
      const folder = parents.find(({ name, mode }) => name === part && mode === '040000');
      if (!folder) return new Map();
      tree = folder.sha;
    }
    const entriesThere = (tree && (await repository.tree(tree))) || [];
    return new Map(entriesThere.map((entry) => [entry.name, entry]));
  }
}

function isSame(folder: ReadonlyMap<string, StoredEntry>, { entry }: Wanted): boolean {
  const there = folder.get(entry.name);
  return there !== undefined && there.sha === entry.sha && there.mode === entry.mode;
}

function nodeOf(graph: CommitGraph | null, sha: string): Node {
  return { position: graph?.find(sha) ?? null, sha: () => sha };
}

function nodeAt(graph: CommitGraph, position: Position): Node {
  return { position, sha: () => graph.hash(position) };
}
