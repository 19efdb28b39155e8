import type { api } from '@stagi/contract/api.ts';
import type { ParsedInputOf } from '@stagi/contract/call.ts';
import type { Ref } from '@stagi/contract/page.ts';
import { projectCan } from '@stagi/contract/projectRules.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import { refused } from '../http/errors.ts';
import { recordProjectActivity } from './activity.ts';
import { lockProject } from './find.ts';
import { actionable } from './present.ts';
import { announceProject, transitionProject } from './status.ts';

type Caller = Context & { user: { id: number }; workspace: { id: number } };

/** Changes what the settings of a project show. */
export async function editProject(
  ctx: Caller,
  { id, title, description, allowForcedPush }: ParsedInputOf<typeof api.projects.edit>,
): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const project = await lockProject(trx, ctx.workspace.id, { id });
    const verdict = projectCan.change(project);
    if (!verdict.allowed) throw refused(verdict.reason);
    const change = {
      ...(title !== undefined && { title }),
      ...(description !== undefined && { description }),
      ...(allowForcedPush !== undefined && { allow_forced_push: allowForcedPush }),
    };
    if (Object.keys(change).length > 0)
      await trx.updateTable('project').set(change).where('id', '=', project.id).execute();
    await announceProject(trx, project);
  });
}

export async function archiveProject(ctx: Caller, ref: Ref): Promise<number> {
  return inTransaction(ctx.db, async (trx) => {
    const project = await lockProject(trx, ctx.workspace.id, ref);
    const verdict = projectCan.archive(actionable(project));
    if (!verdict.allowed) throw refused(verdict.reason);
    await transitionProject(ctx, trx, project.id, 'archived');
    await recordProjectActivity(trx, project.id, { kind: 'archived', actorId: ctx.user.id });
    return project.id;
  });
}

export async function unarchiveProject(ctx: Caller, ref: Ref): Promise<number> {
  return inTransaction(ctx.db, async (trx) => {
    const project = await lockProject(trx, ctx.workspace.id, ref);
    const verdict = projectCan.unarchive(project);
    if (!verdict.allowed) throw refused(verdict.reason);
    await transitionProject(ctx, trx, project.id, 'active');
    await recordProjectActivity(trx, project.id, { kind: 'unarchived', actorId: ctx.user.id });
    return project.id;
  });
}
