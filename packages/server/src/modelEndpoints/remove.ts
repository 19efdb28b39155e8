import { containerCan } from '@stagi/contract/containerRules.ts';
import { sql } from 'kysely';
import { announce } from '../bus/bus.ts';
import { requireManagement, visibleContainer, visibleKinds } from '../containers/access.ts';
import { deleteContainer } from '../containers/actions.ts';
import { inTransaction } from '../db/pool.ts';
import { notFound } from '../http/errors.ts';
import type { Caller } from './deploy.ts';
import { findEndpoint } from './queries.ts';

/** Deletes the container too, unless that is under way already. A server that was rented for it stays. */
export function removeEndpoint(ctx: Caller, id: number): Promise<void> {
  return inTransaction(ctx.db, async (trx) => {
    const viewer = { ...ctx, db: trx };
    const { id: workspaceId, permissions } = ctx.workspace;
    const row = await findEndpoint(trx, workspaceId, visibleKinds(permissions), id);
    if (!row) throw notFound();
    requireManagement(viewer, row.server_kind);
    // The worker that makes its container has this lock until it is made.
    await trx.selectFrom('model_endpoint').select('id').where('id', '=', row.id).forUpdate().execute();
    const now = await findEndpoint(trx, workspaceId, visibleKinds(permissions), id);
    if (!now) throw notFound();
    await trx
      .updateTable('model_endpoint')
      .set({ deleted_at: sql<Date>`now()`, wanted_sealed: null, key_sealed: null })
      .where('id', '=', row.id)
      .execute();
    if (now.container) {
      const container = await visibleContainer(viewer, { id: now.container.id });
      if (containerCan.delete(container).allowed) await deleteContainer(viewer, { id: container.id });
    }
    await announce(trx, 'changed', { entity: 'model', id: row.id, workspaceId });
  });
}
