import type { PushedRef } from '@stagi/contract/projects.ts';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import { recordProjectActivity } from './activity.ts';
import { repositoryPath } from './gitAccess.ts';
import { announceProjectOf, storeState } from './imports.ts';
import { readRepositoryState } from './repositoryState.ts';

interface Push {
  projectId: number;
  userId: number;
  via: 'https' | 'ssh';
  refs: readonly PushedRef[];
}

/** Refs that the activity names; a push of thousands of tags is one line. */
const REFS_KEPT = 20;

/**
 * Notes a push that has landed: size, last commit, activity, and the event for open pages. Of two pushes at once the one
 * that is recorded last has read what both left: it reads again when another was recorded meanwhile.
 */
export async function recordPush(ctx: Pick<Context, 'db' | 'config'>, push: Push): Promise<void> {
  const dir = await repositoryPath(ctx, push.projectId);
  while (!(await tryToRecord(ctx, push, dir)));
}

async function tryToRecord(ctx: Pick<Context, 'db'>, push: Push, dir: string): Promise<boolean> {
  const { pushes } = await ctx.db
    .selectFrom('project')
    .select('pushes')
    .where('id', '=', push.projectId)
    .executeTakeFirstOrThrow();
  const state = await readRepositoryState(dir);
  return inTransaction(ctx.db, async (trx) => {
    const { numUpdatedRows } = await trx
      .updateTable('project')
      .set({ pushes: pushes + 1, last_push_at: sql<Date>`clock_timestamp()` })
      .where('id', '=', push.projectId)
      .where('pushes', '=', pushes)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return false;
    await storeState(trx, push.projectId, state);
    await recordProjectActivity(trx, push.projectId, {
      kind: 'push',
      actorId: push.userId,
      detail: { via: push.via, refs: push.refs.slice(0, REFS_KEPT), refCount: push.refs.length },
    });
    await announceProjectOf(trx, push.projectId);
    return true;
  });
}
