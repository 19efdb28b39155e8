import { notFound } from '../http/errors.ts';
import { isId } from '../http/paging.ts';
import type { Reader } from './find.ts';

/** Marks a task for one person alone. */
export async function setFavorite(
  { db, user, workspace }: Reader,
  { id, favorite }: { id: number; favorite: boolean },
): Promise<void> {
  const task = await db
    .selectFrom('task')
    .select('id')
    .where('workspace_id', '=', workspace.id)
    .where(isId('task.id', id))
    .executeTakeFirst();
  if (!task) throw notFound();
  if (favorite)
    await db
      .insertInto('task_favorite')
      .values({ task_id: task.id, user_id: user.id })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  else await db.deleteFrom('task_favorite').where('task_id', '=', task.id).where('user_id', '=', user.id).execute();
}
