import type { api } from '@stagi/contract/api.ts';
import type { Ref } from '@stagi/contract/page.ts';
import { sql } from 'kysely';
import { notFound } from '../http/errors.ts';
import { type HandlersOf, type Member, prepareOutsideTransaction } from '../http/handlers.ts';
import { isId, pageOf } from '../http/paging.ts';
import { viewProject } from '../projects/find.ts';
import { cancelTask } from './cancel.ts';
import { checkCommitOfSchedule, createSchedule, deleteSchedule, editSchedule } from './changeSchedule.ts';
import { findCommit } from './commit.ts';
import { createTask } from './create.ts';
import { setFavorite } from './favorites.ts';
import { listTasks, runsOf, timelineOf, viewTask } from './find.ts';
import { taskForm } from './form.ts';
import { formerEnv } from './formerEnv.ts';
import { listOutput, outputLink, outputPreview, outputZip } from './output.ts';
import { presentDetail, presentTask } from './present.ts';
import { checkCommitOfTask, rerunTask } from './rerun.ts';
import { listSchedules, presentSchedule, viewSchedule } from './schedules.ts';

const isSuccess = true as const;

export const taskHandlers: HandlersOf<typeof api.tasks> = {
  async list(ctx, { entityFilterRequest, projectRef, instanceRef, ...filter }) {
    const project = projectRef && (await viewProject(ctx.db, ctx.workspace.id, projectRef));
    const instanceId = instanceRef && (await idOfServer(ctx, instanceRef));
    const { rows, count, isMore } = await listTasks(
      ctx,
      { ...filter, projectId: project?.id, instanceId },
      entityFilterRequest,
    );
    return pageOf(
      rows.map((row) => presentTask(ctx, row)),
      count,
      entityFilterRequest,
      isMore,
    );
  },
  view: (ctx, ref) => one(ctx, ref),
  form: taskForm,
  create: prepareOutsideTransaction(findCommit, async (ctx, { cloneOf, ...input }, commit) => {
    const former = await formerEnv(ctx, ctx.db, cloneOf);
    return one(ctx, { id: await createTask(ctx, input, commit, { former, scheduleId: null }) });
  }),
  async cancel(ctx, ref) {
    return one(ctx, { id: await cancelTask(ctx, ref) });
  },
  rerun: prepareOutsideTransaction(checkCommitOfTask, async (ctx, ref) => {
    return one(ctx, { id: await rerunTask(ctx, ref) });
  }),
  async favorite(ctx, input) {
    await setFavorite(ctx, input);
    return { isSuccess };
  },
  output: listOutput,
  async outputLink(ctx, input) {
    return { isSuccess, ...(await outputLink(ctx, input)) };
  },
  async outputZip(ctx, input) {
    return { isSuccess, ...(await outputZip(ctx, input)) };
  },
  async outputPreview(ctx, input) {
    return { isSuccess, ...(await outputPreview(ctx, input)) };
  },

  async schedules(ctx, { entityFilterRequest, projectRef }) {
    const project = projectRef && (await viewProject(ctx.db, ctx.workspace.id, projectRef));
    const { rows, count } = await listSchedules(ctx.db, ctx.workspace.id, project?.id, entityFilterRequest);
    return pageOf(rows.map(presentSchedule), count, entityFilterRequest);
  },
  viewSchedule: (ctx, { id }) => oneSchedule(ctx, id),
  createSchedule: prepareOutsideTransaction(findCommit, async (ctx, input) =>
    oneSchedule(ctx, await createSchedule(ctx, input)),
  ),
  editSchedule: prepareOutsideTransaction(checkCommitOfSchedule, async (ctx, input) => {
    await editSchedule(ctx, input);
    return oneSchedule(ctx, input.id);
  }),
  async deleteSchedule(ctx, input) {
    await deleteSchedule(ctx, input);
    return { isSuccess };
  },
};

async function one(ctx: Member, ref: Ref) {
  const task = await viewTask(ctx, ref);
  return {
    isSuccess,
    entity: presentDetail(ctx, task, await runsOf(ctx.db, task.id), await timelineOf(ctx.db, task.id)),
  };
}

async function oneSchedule(ctx: Member, id: number) {
  return { isSuccess, entity: presentSchedule(await viewSchedule(ctx.db, ctx.workspace.id, id)) };
}

/** Also of a closed server: its tasks stay. */
async function idOfServer({ db, workspace }: Member, ref: Ref): Promise<number> {
  const row = await db
    .selectFrom('instance')
    .select('id')
    .where('workspace_id', '=', workspace.id)
    .where('id' in ref ? isId('id', ref.id) : sql<boolean>`slug = ${ref.slug}`)
    .orderBy(sql`closed_at desc nulls first`)
    .limit(1)
    .executeTakeFirst();
  if (!row) throw notFound();
  return row.id;
}
