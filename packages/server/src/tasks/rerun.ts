import type { Ref } from '@stagi/contract/page.ts';
import { taskCan } from '@stagi/contract/taskRules.ts';
import { text } from '@stagi/contract/text.ts';
import { inTransaction } from '../db/pool.ts';
import { refused } from '../http/errors.ts';
import { viewProject } from '../projects/find.ts';
import { asWorkspace } from '../slots/holder.ts';
import { createTask, type Maker } from './create.ts';
import { openTaskEnv } from './env.ts';
import { lockTask, viewTask } from './find.ts';
import { presentFields } from './present.ts';

/** Refuses a task whose commit is gone from its repository. Runs git: never within a transaction. */
export async function checkCommitOfTask(ctx: Maker, ref: Ref): Promise<void> {
  const task = await viewTask(ctx, ref);
  const project = await viewProject(ctx.db, ctx.workspace.id, { id: task.project_id });
  const stored = project.closed_at
    ? null
    : await ctx.repositories.at(project.repository, asWorkspace(ctx.workspace.id)).commit(task.commit_sha);
  if (!stored) throw refused(text('The commit of this task no longer exists'));
}

/** Stores a new task with the same fields, variables and commit. Returns its id. */
export function rerunTask(ctx: Maker, ref: Ref): Promise<number> {
  return inTransaction(ctx.db, async (trx) => {
    const task = await lockTask({ db: trx, workspace: ctx.workspace }, ref);
    const verdict = taskCan.rerun(task);
    if (!verdict.allowed) throw refused(verdict.reason);
    const { projectId, instanceId, storageId, envNames, ...fields } = presentFields(task, task.commit_sha);
    const input = {
      ...fields,
      stopGraceSeconds: task.stop_grace_seconds,
      projectRef: { id: projectId },
      instanceRef: { id: instanceId },
      storageRef: { id: storageId },
      env: envNames.map((name) => ({ name })),
      title: task.title,
    };
    const commit = { sha: task.commit_sha, message: task.commit_message, at: task.commit_at, ref: task.commit_ref };
    const former = { variables: openTaskEnv(ctx, task), instanceId, isHidden: true };
    return createTask({ ...ctx, db: trx }, input, commit, { former, scheduleId: null });
  });
}
