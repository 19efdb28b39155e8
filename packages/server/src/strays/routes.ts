import type { api } from '@stagi/contract/api.ts';
import { holdOperator } from '../admin/operator.ts';
import { inTransaction } from '../db/pool.ts';
import { type HandlersOf, lookFirst } from '../http/mount.ts';
import { pageOf } from '../http/paging.ts';
import { offerOfCloud, type RentableOffer } from '../marketplace/offers.ts';
import { adopt } from './adopt.ts';
import { decide, listStrays, presentStray, undecidedStray } from './queries.ts';

export const strayHandlers: HandlersOf<typeof api.strays> = {
  async list(ctx, { entityFilterRequest }) {
    const { rows, count } = await listStrays(ctx.db, entityFilterRequest);
    return pageOf(
      rows.map((row) => presentStray(ctx, row)),
      count,
      entityFilterRequest,
    );
  },
  adopt: lookFirst<typeof api.strays.adopt, RentableOffer | null>(
    (ctx, { offerId }) => offerOfCloud(ctx, offerId),
    async (ctx, input, offer) => {
      const { stray, instanceId } = await adopt(ctx, input, offer);
      return { isSuccess: true, entity: presentStray(ctx, stray), instanceId };
    },
  ),
  async delete(ctx, { id }) {
    const row = await inTransaction(ctx.db, async (trx) => {
      await holdOperator(trx, ctx.user.id);
      await undecidedStray(trx, id);
      return decide(trx, id, 'delete', ctx.user.id);
    });
    return { isSuccess: true, entity: presentStray(ctx, row) };
  },
};
