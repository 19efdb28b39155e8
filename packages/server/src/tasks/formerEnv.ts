import type { Ref } from '@stagi/contract/page.ts';
import { type FormerEnv, NO_ENV } from '../containers/fillEnv.ts';
import type { Context } from '../context.ts';
import type { Db } from '../db/schema.ts';
import { openTaskEnv } from './env.ts';
import { findTask } from './find.ts';

/** The variables of the task that another one is cloned from. */
export async function formerEnv(
  ctx: Pick<Context, 'secrets'> & { workspace: { id: number } },
  db: Db,
  cloneOf: Ref | undefined,
): Promise<FormerEnv> {
  if (!cloneOf) return NO_ENV;
  const task = await findTask({ db, workspace: ctx.workspace }, cloneOf);
  return { variables: openTaskEnv(ctx, task), instanceId: task.instance_id, isHidden: true };
}
