import type { api } from '@stagi/contract/api.ts';
import type { ParsedInputOf } from '@stagi/contract/call.ts';
import type { Ref } from '@stagi/contract/page.ts';
import { projectCan } from '@stagi/contract/projectRules.ts';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import { announce } from '../bus/bus.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import { requireVersion } from '../http/editVersion.ts';
import { invalid, refused } from '../http/errors.ts';
import { recordProjectActivity } from './activity.ts';
import { lockProject, viewProject } from './find.ts';
import { repositoryPath } from './gitAccess.ts';
import { actionable, projectVersion } from './present.ts';
import { tipColumns } from './recordState.ts';
import { type Tip, tipOf } from './repositoryState.ts';
import { announceProject, transitionProject } from './status.ts';

type Caller = Context & { user: { id: number }; workspace: { id: number } };

type Edit = ParsedInputOf<typeof api.projects.edit>;

/** The tip of the branch that is to become the default one, which must exist. Asked of git, outside of the transaction. */
export async function chosenTip(ctx: Caller, { id, defaultBranch }: Edit): Promise<Tip | null> {
  if (defaultBranch === undefined) return null;
  const project = await viewProject(ctx.db, ctx.workspace.id, { id });
  const verdict = projectCan.change(project);
  if (!verdict.allowed) throw refused(verdict.reason);
  const tip = await tipOf(await repositoryPath(ctx, project.id), defaultBranch);
  if (!tip) throw invalid(text('This branch does not exist'), 'defaultBranch');
  return tip;
}

/** Changes what the settings of a project show. The worker lets the repository follow. */
export async function editProject(
  ctx: Caller,
  { id, title, description, defaultBranch, allowForcedPush, version }: Edit,
  tip: Tip | null,
): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const project = await lockProject(trx, ctx.workspace.id, { id });
    const verdict = projectCan.change(project);
    if (!verdict.allowed) throw refused(verdict.reason);
    requireVersion(version, projectVersion(project));
    const change = {
      ...(title !== undefined && { title }),
      ...(description !== undefined && { description }),
      ...(allowForcedPush !== undefined && { allow_forced_push: allowForcedPush }),
      ...(defaultBranch !== undefined && {
        default_branch: defaultBranch,
        next_at: sql<Date>`clock_timestamp()`,
        ...tipColumns(tip),
      }),
    };
    if (Object.keys(change).length > 0)
      await trx.updateTable('project').set(change).where('id', '=', project.id).execute();
    await announceProject(trx, project);
    if (defaultBranch !== undefined) await announce(trx, 'due', { kind: 'project' });
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
