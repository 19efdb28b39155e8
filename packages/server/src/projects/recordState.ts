import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { type RepositoryState, readRepositoryState, setHeadBranch } from './repositoryState.ts';
import { announceProjectOf } from './status.ts';

/** The last record of each repository in this process: the next one waits for it, as both would read in vain. */
const lastRecords = new Map<string, Promise<void>>();

/**
 * Reads what the repository of a project holds and stores it. Of two at once the one that stores last has read what both
 * found: it reads again when another process stored meanwhile. `alongside` runs in the same transaction.
 */
export async function recordState(
  ctx: Pick<Context, 'db'>,
  projectId: number,
  dir: string,
  alongside?: (trx: Db) => Promise<void>,
): Promise<void> {
  const before = lastRecords.get(dir) ?? Promise.resolve();
  const record = async (): Promise<void> => {
    while (!(await tryToRecord(ctx, projectId, dir, alongside)));
  };
  const mine = before.then(record, record);
  lastRecords.set(dir, mine);
  try {
    await mine;
  } finally {
    if (lastRecords.get(dir) === mine) lastRecords.delete(dir);
  }
}

async function tryToRecord(
  ctx: Pick<Context, 'db'>,
  projectId: number,
  dir: string,
  alongside?: (trx: Db) => Promise<void>,
): Promise<boolean> {
  const seen = await ctx.db
    .selectFrom('project')
    .select(['pushes', 'default_branch'])
    .where('id', '=', projectId)
    .executeTakeFirstOrThrow();
  const { branch, state } = await stateOf(dir, seen.default_branch);
  return inTransaction(ctx.db, async (trx) => {
    const { numUpdatedRows } = await trx
      .updateTable('project')
      .set({ pushes: seen.pushes + 1, default_branch: branch, ...columnsOf(state) })
      .where('id', '=', projectId)
      .where('pushes', '=', seen.pushes)
      .where('default_branch', '=', seen.default_branch)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return false;
    await alongside?.(trx);
    await announceProjectOf(trx, projectId);
    return true;
  });
}

/** The first branch of a repository becomes its default branch, whatever its name. */
async function stateOf(dir: string, defaultBranch: string): Promise<{ branch: string; state: RepositoryState }> {
  const state = await readRepositoryState(dir, defaultBranch);
  const branch = state.lastCommit === null ? (state.onlyBranch ?? defaultBranch) : defaultBranch;
  // Idempotent: it also follows a default branch that was chosen in the settings.
  await setHeadBranch(dir, branch);
  return branch === defaultBranch ? { branch, state } : { branch, state: await readRepositoryState(dir, branch) };
}

export const columnsOf = ({ sizeBytes, isEmpty, lastCommit }: RepositoryState) => ({
  size_bytes: BigInt(sizeBytes),
  is_empty: isEmpty,
  ...tipColumns(lastCommit),
});

export const tipColumns = (tip: RepositoryState['lastCommit']) => ({
  last_commit_sha: tip?.sha ?? null,
  last_commit_message: tip?.message ?? null,
  last_commit_at: tip?.at ?? null,
});
