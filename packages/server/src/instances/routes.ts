import type { api } from '@stagi/contract/api.ts';
import type { Ref } from '@stagi/contract/page.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import { type HandlersOf, prepareOutsideTransaction } from '../http/handlers.ts';
import { pageOf } from '../http/paging.ts';
import { renameLogBucket } from '../logBucket/make.ts';
import { findAvailableOffer, type RentableOffer } from '../marketplace/offers.ts';
import { requestAction } from './actions.ts';
import { listActivities } from './activity.ts';
import { listInstances, renameInstance, requireInstance, viewInstance } from './find.ts';
import { presentInstance } from './present.ts';
import { rent } from './rent.ts';
import { grantSshAccess, listSshAccess, revokeSshAccess } from './sshAccess.ts';

export const instanceHandlers: HandlersOf<typeof api.instances> = {
  async list(ctx, { entityFilterRequest }) {
    const { rows, count } = await listInstances(ctx.db, ctx.workspace.id, 'rented', entityFilterRequest);
    return pageOf(
      rows.map((row) => presentInstance(ctx, row)),
      count,
      entityFilterRequest,
    );
  },
  view: (ctx, ref) => one(ctx, ref),
  rent: prepareOutsideTransaction<typeof api.instances.rent, RentableOffer | null>(
    (ctx, { offerId }) => findAvailableOffer(ctx, offerId),
    async (ctx, input, offer) => one(ctx, { id: await rent(ctx, input, offer) }),
  ),
  async edit(ctx, { id, title, version }) {
    await inTransaction(ctx.db, async (trx) => {
      await renameInstance(trx, ctx.workspace.id, 'rented', { id, title, version });
      await renameLogBucket(trx, id, title);
    });
    return one(ctx, { id });
  },
  async start(ctx, ref) {
    return one(ctx, { id: await requestAction(ctx, 'start', ref) });
  },
  async stop(ctx, ref) {
    return one(ctx, { id: await requestAction(ctx, 'stop', ref) });
  },
  async reboot(ctx, ref) {
    return one(ctx, { id: await requestAction(ctx, 'reboot', ref) });
  },
  async terminate(ctx, ref) {
    return one(ctx, { id: await requestAction(ctx, 'terminate', ref) });
  },
  async activities(ctx, { entityFilterRequest, from, to, ...ref }) {
    const { id } = await requireInstance(ctx.db, ctx.workspace.id, 'rented', ref);
    return listActivities(ctx.db, id, entityFilterRequest, { from, to });
  },
  async sshKeys(ctx, { entityFilterRequest, ...ref }) {
    const { id } = await requireInstance(ctx.db, ctx.workspace.id, 'rented', ref);
    const { entities, count } = await listSshAccess(ctx, id, entityFilterRequest);
    return pageOf(entities, count, entityFilterRequest);
  },
  async addSshKey(ctx, input) {
    return { isSuccess: true, entity: await inTransaction(ctx.db, (trx) => grantSshAccess(trx, ctx, input)) };
  },
  async removeSshKey(ctx, input) {
    await inTransaction(ctx.db, (trx) => revokeSshAccess(trx, ctx, input));
    return { isSuccess: true };
  },
};

async function one(ctx: Context & { workspace: { id: number } }, ref: Ref) {
  const row = await viewInstance(ctx.db, ctx.workspace.id, 'rented', ref);
  return { isSuccess: true as const, entity: presentInstance(ctx, row) };
}
