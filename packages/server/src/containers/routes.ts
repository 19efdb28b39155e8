import type { api } from '@stagi/contract/api.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { pageOf } from '../http/paging.ts';
import { visibleContainer, visibleKinds, visibleServer } from './access.ts';
import { deleteContainer, restartContainer, startContainer, stopContainer } from './actions.ts';
import { createContainers } from './create.ts';
import { editContainer, undoEdit } from './edit.ts';
import { presentContainer } from './present.ts';
import { visibleProject } from './project.ts';
import { listContainers } from './queries.ts';

export const containerHandlers: HandlersOf<typeof api.containers> = {
  async list(ctx, { entityFilterRequest, instanceRef, projectRef }) {
    const instance = instanceRef && (await visibleServer(ctx, instanceRef));
    const project = projectRef && (await visibleProject(ctx, projectRef));
    const kinds = visibleKinds(ctx.workspace.permissions);
    const { rows, count } = await listContainers(
      ctx.db,
      ctx.workspace.id,
      kinds,
      { instanceId: instance?.id, projectId: project?.id },
      entityFilterRequest,
    );
    return pageOf(rows.map(presentContainer), count, entityFilterRequest);
  },
  async view(ctx, ref) {
    return { isSuccess: true, entity: await visibleContainer(ctx, ref) };
  },
  async create(ctx, input) {
    const entities = await createContainers(ctx, input);
    return { isSuccess: true, entity: entities[0]!, entities };
  },
  async edit(ctx, input) {
    return { isSuccess: true, entity: await editContainer(ctx, input) };
  },
  async undoEdit(ctx, ref) {
    return { isSuccess: true, entity: await undoEdit(ctx, ref) };
  },
  async start(ctx, ref) {
    return { isSuccess: true, entity: await startContainer(ctx, ref) };
  },
  async stop(ctx, ref) {
    return { isSuccess: true, entity: await stopContainer(ctx, ref) };
  },
  async restart(ctx, ref) {
    return { isSuccess: true, entity: await restartContainer(ctx, ref) };
  },
  async delete(ctx, ref) {
    await deleteContainer(ctx, ref);
    return { isSuccess: true };
  },
};
