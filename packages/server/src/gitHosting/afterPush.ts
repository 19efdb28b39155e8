import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { PushedRef } from '@stagi/contract/projects.ts';
import type { Context } from '../context.ts';
import { GitError, runGit } from '../git/run.ts';
import { writeCommitGraph } from '../git/upkeep.ts';

const READ_MS = 60_000;

/** Those of the refs of a push that now are what it made of them: another push may have been faster at some. */
export async function landedRefs(dir: string, refs: readonly PushedRef[]): Promise<PushedRef[]> {
  const { stdout } = await runGit(dir, ['for-each-ref', '--format=%(objectname) %(refname)'], { timeoutMs: READ_MS });
  const now = new Map(
    stdout
      .toString()
      .split('\n')
      .map((line) => [line.slice(line.indexOf(' ') + 1), line.slice(0, line.indexOf(' '))]),
  );
  return refs.filter(({ name, after }) => (now.get(name) ?? null) === after);
}

/**
 * Syncs the folders that a push wrote to. git syncs its files but not the folders that name them, so that after a loss
 * of power an acknowledged ref could be the old one.
 */
export async function syncRepository(dir: string, refs: readonly Pick<PushedRef, 'name'>[]): Promise<void> {
  const folders = new Set([dir, join(dir, 'objects'), join(dir, 'objects/pack')]);
  for (const { name } of refs)
    for (let folder = dirname(name); folder !== '.'; folder = dirname(folder)) folders.add(join(dir, folder));
  await Promise.all([...folders].map(syncFolder));
}

async function syncFolder(path: string): Promise<void> {
  try {
    const folder = await open(path, 'r');
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  } catch (error) {
    // A folder of refs goes with its last ref.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

export interface CommitGraphs {
  /** Not waited for: without a commit-graph pages are only slower. */
  write(dir: string): void;
  stop(): Promise<void>;
}

/** Writes what lets pages walk a history fast, one process per repository. */
export function createCommitGraphs({ log }: Pick<Context, 'log'>): CommitGraphs {
  const running = new Map<string, { again: boolean; done: Promise<void> }>();
  const stopping = new AbortController();

  function write(dir: string): void {
    const known = running.get(dir);
    if (known) {
      known.again = true;
      return;
    }
    if (stopping.signal.aborted) return;
    const entry = { again: false, done: run(dir) };
    running.set(dir, entry);
    void entry.done.then(() => {
      running.delete(dir);
      if (entry.again) write(dir);
    });
  }

  async function run(dir: string): Promise<void> {
    try {
      await writeCommitGraph(dir, { signal: stopping.signal });
    } catch (error) {
      if (error instanceof GitError && error.reason === 'aborted') return;
      log.warn({ err: error, dir }, 'a commit-graph could not be written');
    }
  }

  return {
    write,
    async stop() {
      stopping.abort();
      await Promise.all([...running.values()].map(({ done }) => done));
    },
  };
}
