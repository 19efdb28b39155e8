import { LRUCache } from 'lru-cache';
import type { Config } from '../config/config.ts';
import type { FairSlots } from '../slots/fairSlots.ts';
import type { Holder } from '../slots/holder.ts';
import { startInTurn } from '../slots/startInTurn.ts';
import { type CatFile, type ObjectInfo, type StoredObject, startCatFile } from './catFile.ts';
import { parseCommit, parseTree, type StoredCommit, type StoredEntry } from './parseObjects.ts';
import { repositoryDir } from './repository.ts';
import { type GitOptions, type GitOutput, runGit } from './run.ts';

/** Running `git cat-file` processes, all repositories together. */
const MAX_PROCESSES = 24;
/** One that is asked nothing for so long ends. */
const IDLE_MS = 60_000;
const IDLE_CHECK_MS = 15_000;
/** Repositories whose caches are kept. */
const MAX_REPOSITORIES = 200;

/** Of each repository; a folder counts as one for each entry. */
const FACTS_KEPT = 20_000;
const COMMITS_KEPT = 20_000;
const TREES_KEPT_BYTES = 32 * 1024 * 1024;
const ENTRY_BYTES = 200;

/** One repository, to read from for somebody. */
export interface Repository extends StoredObjects {
  /** Runs git for a page: it waits for its turn among those of all readers. See `runGit`. */
  git(args: readonly string[], options?: GitOptions): Promise<GitOutput>;
}

/** The same for everybody who reads it. */
interface StoredObjects {
  readonly dir: string;
  info(sha: string): Promise<ObjectInfo | null>;
  read(sha: string): Promise<StoredObject | null>;
  /** Null: absent, or no commit. */
  commit(sha: string): Promise<StoredCommit | null>;
  /** Null: absent, or no tree. */
  tree(sha: string): Promise<readonly StoredEntry[] | null>;
  /** Facts about commits of this repository, which cannot change, by a key of their finder. */
  readonly facts: LRUCache<string, object>;
}

/** The repositories that this process reads. */
export interface Repositories {
  at(uuid: string, reader: Holder): Repository;
  /** Ends what runs for a repository and forgets it; call it before the folder is removed. */
  forget(uuid: string): void;
  close(): void;
}

interface Running {
  process: CatFile;
  usedAt: number;
  /** Questions without an answer. */
  open: number;
}

export function openRepositories(
  place: Pick<Config, 'repositoriesDir'>,
  { readers, starts }: { readers: FairSlots; starts: FairSlots },
): Repositories {
  // Names are hashes of the content, so that these are true in every repository that has the object.
  const commits = new LRUCache<string, StoredCommit>({ max: COMMITS_KEPT });
  const trees = new LRUCache<string, { entries: readonly StoredEntry[] }>({
    maxSize: TREES_KEPT_BYTES,
    sizeCalculation: ({ entries }) => ENTRY_BYTES * (entries.length + 1),
  });
  const known = new LRUCache<string, StoredObjects>({ max: MAX_REPOSITORIES });
  const running = new Map<string, Running>();
  const idleCheck = setInterval(endIdle, IDLE_CHECK_MS);
  idleCheck.unref();
  let isClosed = false;

  /** Asks the repository's process, which is started if none runs. */
  async function ask<T>(dir: string, question: (process: CatFile) => Promise<T>): Promise<T> {
    if (isClosed) throw new Error('the repositories are closed');
    let entry = running.get(dir);
    if (!entry || entry.process.isEnded) {
      makeRoom();
      entry = { process: startCatFile(dir), usedAt: 0, open: 0 };
    }
    // The order of the map is that of the last use.
    running.delete(dir);
    running.set(dir, entry);
    entry.open += 1;
    try {
      return await question(entry.process);
    } finally {
      entry.open -= 1;
      entry.usedAt = performance.now();
    }
  }

  function makeRoom(): void {
    for (const [dir, entry] of running) {
      if (running.size < MAX_PROCESSES) return;
      if (entry.open === 0) end(dir, entry);
    }
  }
  function endIdle(): void {
    for (const [dir, entry] of running)
      if (entry.open === 0 && performance.now() - entry.usedAt > IDLE_MS) end(dir, entry);
  }
  function end(dir: string, { process }: Running): void {
    running.delete(dir);
    process.end();
  }

  function open(dir: string): StoredObjects {
    const repository: StoredObjects = {
      dir,
      facts: new LRUCache<string, object>({
        maxSize: FACTS_KEPT,
        sizeCalculation: (fact) => 1 + (fact instanceof Map || fact instanceof Set ? fact.size : 0),
      }),
      info: (sha) => ask(dir, (process) => process.info(sha)),
      read: (sha) => ask(dir, (process) => process.read(sha)),
      async commit(sha) {
        // Asked in any case: another repository may have put it into the cache.
        const cached = commits.get(sha);
        if (cached) return (await repository.info(sha)) ? cached : null;
        const object = await repository.read(sha);
        if (object?.type !== 'commit') return null;
        const commit = parseCommit(sha, object);
        commits.set(sha, commit);
        return commit;
      },
      async tree(sha) {
        const cached = trees.get(sha);
        if (cached) return (await repository.info(sha)) ? cached.entries : null;
        const object = await repository.read(sha);
        if (object?.type !== 'tree') return null;
        const entries = parseTree(object.content);
        trees.set(sha, { entries });
        return entries;
      },
    };
    return repository;
  }

  return {
    at(uuid, reader) {
      const stored = known.get(uuid) ?? open(repositoryDir(place, uuid));
      known.set(uuid, stored);
      return {
        ...stored,
        async git(args, options = {}) {
          const release = await readers.take(reader, { signal: options.signal });
          try {
            const run = () => ({ output: runGit(stored.dir, args, options) });
            const { output } = await startInTurn(starts, reader, run, options.signal);
            return await output;
          } finally {
            release();
          }
        },
      };
    },
    forget(uuid) {
      const dir = repositoryDir(place, uuid);
      known.delete(uuid);
      const entry = running.get(dir);
      if (entry) end(dir, entry);
    },
    close() {
      isClosed = true;
      clearInterval(idleCheck);
      for (const [dir, entry] of running) end(dir, entry);
    },
  };
}
