import { PROJECT_MOVES, type ProjectStatus } from '@stagi/contract/projectRules.ts';
import { sql } from 'kysely';
import { announce } from '../bus/bus.ts';
import type { Context } from '../context.ts';
import type { Db } from '../db/schema.ts';

interface StatusEvidence {
  /** Shown to people. `undefined` keeps the old reason; a change of status clears it unless a new one is given. */
  reason?: string | null;
  /** When the transition must have ended, in minutes from now. */
  deadlineMinutes?: number;
}

/**
 * The only place that changes the status of a project. `deleting` also changes what is desired and wakes the worker.
 * Returns false, and changes nothing, when the contract's table does not allow the transition.
 */
export async function transitionProject(
  ctx: Pick<Context, 'log'>,
  trx: Db,
  projectId: number,
  to: ProjectStatus,
  { reason, deadlineMinutes }: StatusEvidence = {},
): Promise<boolean> {
  const row = await trx
    .selectFrom('project')
    .select(['id', 'workspace_id', 'status', 'status_reason'])
    .where('id', '=', projectId)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (!row) return false;
  if (row.status === to) {
    await trx
      .updateTable('project')
      .set({ status_reason: reason, status_seen_at: sql<Date>`clock_timestamp()` })
      .where('id', '=', projectId)
      .execute();
    if (reason !== undefined && reason !== row.status_reason) await announceProject(trx, row);
    return true;
  }
  if (!PROJECT_MOVES[row.status].includes(to)) {
    ctx.log.warn({ projectId, from: row.status, to, reason }, 'refused an impossible move of a project');
    return false;
  }
  await trx
    .updateTable('project')
    .set({
      status: to,
      status_since: sql<Date>`clock_timestamp()`,
      status_seen_at: sql<Date>`clock_timestamp()`,
      status_deadline:
        deadlineMinutes === undefined ? null : sql<Date>`clock_timestamp() + ${`${deadlineMinutes} minutes`}::interval`,
      status_reason: reason ?? null,
      archived_at: to === 'archived' ? sql<Date>`clock_timestamp()` : null,
      ...(to === 'deleted' && { closed_at: sql<Date>`clock_timestamp()` }),
      ...(to === 'deleting' && {
        desired: 'gone' as const,
        gen: sql<number>`gen + 1`,
        next_at: sql<Date>`clock_timestamp()`,
      }),
    })
    .where('id', '=', projectId)
    .execute();
  await announceProject(trx, row);
  if (to === 'deleting') await announce(trx, 'due', { kind: 'project' });
  return true;
}

export async function announceProject(
  db: Db,
  { id, workspace_id }: { id: number; workspace_id: number },
): Promise<void> {
  await announce(db, 'changed', { entity: 'project', id, workspaceId: workspace_id });
}

export async function announceProjectOf(db: Db, id: number): Promise<void> {
  const project = await db
    .selectFrom('project')
    .select(['id', 'workspace_id'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  await announceProject(db, project);
}
