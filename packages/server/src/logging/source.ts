import type { LogSource } from '@stagi/contract/logging.ts';
import { type Viewer, visibleContainer } from '../containers/access.ts';
import { notFound } from '../http/errors.ts';
import { isId } from '../http/paging.ts';

/**
 * The container whose log a caller asks for, also one that is deleted. Null: the run of a task that has no container
 * yet. What they may not see is not found.
 */
export async function containerOf(viewer: Viewer, source: LogSource): Promise<number | null> {
  if (source.type === 'docker-container') return (await visibleContainer(viewer, { id: source.id })).id;
  if (!viewer.workspace.permissions.includes('RUNNING_TASKS')) throw notFound();
  const run = await viewer.db
    .selectFrom('task_run')
    .innerJoin('task', 'task.id', 'task_run.task_id')
    .select('task_run.container_id')
    .where('task.workspace_id', '=', viewer.workspace.id)
    .where(isId('task.id', source.id))
    .where(isId('task_run.number', source.run))
    .executeTakeFirst();
  if (!run) throw notFound();
  return run.container_id;
}
