import type { api } from '@stagi/contract/api.ts';
import { CURRENCY } from '@stagi/contract/brand.ts';
import { fromDecimal, toDecimal } from '@stagi/contract/money.ts';
import { text } from '@stagi/contract/text.ts';
import { inTransaction } from '../db/pool.ts';
import { invalid } from '../http/errors.ts';
import { type HandlersOf, prepareOutsideTransaction } from '../http/handlers.ts';
import { pageOf } from '../http/paging.ts';
import { lockOperator } from '../people/lockedByOperator.ts';
import { activate, requireKnownCode } from './activate.ts';
import { createPromoCode, listPromoCodes, revokePromoCode } from './codes.ts';

export const promoCodeHandlers: HandlersOf<typeof api.promoCodes> = {
  activate: prepareOutsideTransaction<typeof api.promoCodes.activate, void>(
    (ctx, { promoCode }) => requireKnownCode(ctx, ctx.user.id, promoCode),
    async (ctx, { promoCode }) => {
      const amount = await inTransaction(ctx.db, (trx) =>
        activate(ctx, trx, { userId: ctx.user.id, workspaceId: ctx.workspace.id, code: promoCode }),
      );
      return { isSuccess: true, amount: { currency: CURRENCY, decimalValue: toDecimal(amount) } };
    },
  ),
  async create({ db, user, clock }, { amount, expiresAt, ...made }) {
    const until = new Date(expiresAt);
    if (until <= clock.now()) throw invalid(text('Expiry must be in the future'), 'expiresAt');
    const entity = await inTransaction(db, async (trx) => {
      await lockOperator(trx, user.id);
      return createPromoCode(trx, user.id, { ...made, amount: fromDecimal(amount), expiresAt: until });
    });
    return { isSuccess: true, entity };
  },
  async list({ db }, { entityFilterRequest }) {
    const { entities, count } = await listPromoCodes(db, entityFilterRequest);
    return pageOf(entities, count, entityFilterRequest);
  },
  async revoke({ db, user }, { id }) {
    const entity = await inTransaction(db, async (trx) => {
      await lockOperator(trx, user.id);
      return revokePromoCode(trx, id);
    });
    return { isSuccess: true, entity };
  },
};
