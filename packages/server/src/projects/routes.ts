import type { api } from '@stagi/contract/api.ts';
import type { Ref } from '@stagi/contract/page.ts';
import { limitsOf } from '@stagi/contract/planLimits.ts';
import { MAX_PUSH_BYTES } from '@stagi/contract/projectRules.ts';
import { GB } from '@stagi/contract/storageRules.ts';
import { type HandlersOf, type Member, prepareOutsideTransaction } from '../http/handlers.ts';
import { pageOf } from '../http/paging.ts';
import { planUse } from '../storages/quota.ts';
import { listProjectActivity } from './activity.ts';
import { archiveProject, chosenTip, editProject, unarchiveProject } from './change.ts';
import { createProject } from './create.ts';
import { deleteProject, viewDeletion } from './delete.ts';
import { listProjects, viewProject } from './find.ts';
import { cancelImport, startImport } from './imports.ts';
import { attachInstance, detachInstance, listProjectInstances } from './instances.ts';
import { presentProject } from './present.ts';
import { projectsOfPlan } from './quota.ts';

const isSuccess = true as const;

export const projectHandlers: HandlersOf<typeof api.projects> = {
  async list(ctx, { entityFilterRequest }) {
    const { rows, count, isMore } = await listProjects(ctx.db, ctx.workspace.id, entityFilterRequest);
    return pageOf(
      rows.map((row) => presentProject(ctx, row)),
      count,
      entityFilterRequest,
      isMore,
    );
  },
  view: (ctx, ref) => one(ctx, ref),
  async form(ctx) {
    const usedBytes = await planUse(ctx.db, ctx.workspace);
    return {
      isSuccess,
      planGb: limitsOf(ctx.workspace).storageGb,
      usedGb: Number(usedBytes) / GB,
      projects: {
        used: await projectsOfPlan(ctx.db, ctx.workspace),
        limit: limitsOf(ctx.workspace).projects,
      },
      maxPushBytes: MAX_PUSH_BYTES,
    };
  },
  async create(ctx, input) {
    return one(ctx, { id: await createProject(ctx, input) });
  },
  edit: prepareOutsideTransaction(chosenTip, async (ctx, input, tip) => {
    await editProject(ctx, input, tip);
    return one(ctx, { id: input.id });
  }),
  async archive(ctx, ref) {
    return one(ctx, { id: await archiveProject(ctx, ref) });
  },
  async unarchive(ctx, ref) {
    return one(ctx, { id: await unarchiveProject(ctx, ref) });
  },
  async viewDeletion(ctx, ref) {
    return { isSuccess, ...(await viewDeletion(ctx, ref)) };
  },
  async delete(ctx, input) {
    await deleteProject(ctx, input);
    return one(ctx, { id: input.id });
  },
  async import(ctx, input) {
    await startImport(ctx, input);
    return one(ctx, { id: input.id });
  },
  async cancelImport(ctx, input) {
    await cancelImport(ctx, input);
    return one(ctx, { id: input.id });
  },
  async instances(ctx, { projectRef, entityFilterRequest }) {
    const project = await viewProject(ctx.db, ctx.workspace.id, projectRef);
    return listProjectInstances(ctx.db, project.id, entityFilterRequest);
  },
  async attachInstance(ctx, input) {
    await attachInstance(ctx, input);
    return { isSuccess };
  },
  async detachInstance(ctx, input) {
    await detachInstance(ctx, input);
    return { isSuccess };
  },
  async activity(ctx, { projectRef, entityFilterRequest }) {
    const project = await viewProject(ctx.db, ctx.workspace.id, projectRef);
    return listProjectActivity(ctx.db, project.id, entityFilterRequest);
  },
};

async function one(ctx: Member, ref: Ref) {
  return { isSuccess, entity: presentProject(ctx, await viewProject(ctx.db, ctx.workspace.id, ref)) };
}
