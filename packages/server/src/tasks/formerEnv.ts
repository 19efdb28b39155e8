import type { Ref } from '@stagi/contract/page.ts';
import type { Context } from '../context.ts';
import type { Db } from '../db/schema.ts';
import { type Env, openTaskEnv } from './env.ts';
import { findTask } from './find.ts';

/** The variables of the task that another one is cloned from. */
export async function formerEnv(
  ctx: Pick<Context, 'secrets'> & { workspace: { id: number } },
  db: Db,
  cloneOf: Ref | undefined,
): Promise<Env> {
  return cloneOf ? openTaskEnv(ctx, await findTask({ db, workspace: ctx.workspace }, cloneOf)) : [];
}
