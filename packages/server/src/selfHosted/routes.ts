import type { api } from '@stagi/contract/api.ts';
import { inTransaction } from '../db/pool.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { pageOf } from '../http/paging.ts';
import { listActivities } from '../instances/activity.ts';
import { listInstances, renameInstance, requireInstance, viewInstance } from '../instances/find.ts';
import { createSelfHosted, reissueToken } from './create.ts';
import { deleteSelfHosted } from './delete.ts';
import { presentSelfHosted } from './present.ts';

export const selfHostedHandlers: HandlersOf<typeof api.selfHosted> = {
  async list(ctx, { entityFilterRequest }) {
    const { rows, count } = await listInstances(ctx.db, ctx.workspace.id, 'self-hosted', entityFilterRequest);
    return pageOf(rows.map(presentSelfHosted), count, entityFilterRequest);
  },
  async view(ctx, ref) {
    return {
      isSuccess: true,
      entity: presentSelfHosted(await viewInstance(ctx.db, ctx.workspace.id, 'self-hosted', ref)),
    };
  },
  async create(ctx, input) {
    return { isSuccess: true, ...(await createSelfHosted(ctx, input)) };
  },
  async reissueToken(ctx, input) {
    return { isSuccess: true, ...(await reissueToken(ctx, input)) };
  },
  async edit(ctx, { id, ...change }) {
    await inTransaction(ctx.db, (trx) => renameInstance(trx, ctx.workspace.id, 'self-hosted', { id, ...change }));
    return {
      isSuccess: true,
      entity: presentSelfHosted(await viewInstance(ctx.db, ctx.workspace.id, 'self-hosted', { id })),
    };
  },
  async delete(ctx, ref) {
    await deleteSelfHosted(ctx, ref);
    return { isSuccess: true };
  },
  async activities(ctx, { entityFilterRequest, from, to, ...ref }) {
    const { id } = await requireInstance(ctx.db, ctx.workspace.id, 'self-hosted', ref);
    return listActivities(ctx.db, id, entityFilterRequest, { from, to });
  },
};
