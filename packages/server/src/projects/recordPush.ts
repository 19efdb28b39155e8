import type { PushedRef } from '@stagi/contract/projects.ts';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { recordProjectActivity } from './activity.ts';
import { repositoryPath } from './gitAccess.ts';
import { recordState } from './recordState.ts';

interface Push {
  projectId: number;
  userId: number;
  via: 'https' | 'ssh';
  refs: readonly PushedRef[];
}

/** Refs that the activity names; a push of thousands of tags is one line. */
const REFS_KEPT = 20;

/** Notes a push that has landed: size, last commit, activity, and the event for open pages. */
export async function recordPush(ctx: Pick<Context, 'db' | 'config'>, push: Push): Promise<void> {
  const { projectId, userId, via, refs } = push;
  await recordState(ctx, projectId, await repositoryPath(ctx, projectId), async (trx) => {
    await trx
      .updateTable('project')
      .set({ last_push_at: sql<Date>`clock_timestamp()` })
      .where('id', '=', projectId)
      .execute();
    await recordProjectActivity(trx, projectId, {
      kind: 'push',
      actorId: userId,
      detail: { via, refs: refs.slice(0, REFS_KEPT), refCount: refs.length },
    });
  });
}

/** Reads size and last commit again: after a repack, or when it is not known whether a push was recorded. */
export async function refreshProject(ctx: Pick<Context, 'db' | 'config'>, projectId: number): Promise<void> {
  await recordState(ctx, projectId, await repositoryPath(ctx, projectId));
}
