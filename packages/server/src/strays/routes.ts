import type { api } from '@stagi/contract/api.ts';
import { inTransaction } from '../db/pool.ts';
import { type HandlersOf, prepareOutsideTransaction } from '../http/handlers.ts';
import { pageOf } from '../http/paging.ts';
import { findOfferOrSoldOut, type RentableOffer } from '../marketplace/offers.ts';
import { lockOperator } from '../people/lockedByOperator.ts';
import { adoptStray } from './adopt.ts';
import { listStrays, lockUndecidedStray, presentStray, recordDecision } from './queries.ts';

export const strayHandlers: HandlersOf<typeof api.strays> = {
  async list(ctx, { entityFilterRequest }) {
    const { rows, count } = await listStrays(ctx.db, entityFilterRequest);
    return pageOf(
      rows.map((row) => presentStray(ctx, row)),
      count,
      entityFilterRequest,
    );
  },
  adopt: prepareOutsideTransaction<typeof api.strays.adopt, RentableOffer | null>(
    (ctx, { offerId }) => findOfferOrSoldOut(ctx, offerId),
    async (ctx, input, offer) => {
      const { stray, instanceId } = await adoptStray(ctx, input, offer);
      return { isSuccess: true, entity: presentStray(ctx, stray), instanceId };
    },
  ),
  async delete(ctx, { id }) {
    const row = await inTransaction(ctx.db, async (trx) => {
      await lockOperator(trx, ctx.user.id);
      await lockUndecidedStray(trx, id);
      return recordDecision(trx, id, 'delete', ctx.user.id);
    });
    return { isSuccess: true, entity: presentStray(ctx, row) };
  },
};
