import type { api } from '@stagi/contract/api.ts';
import { inTransaction } from '../db/pool.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { pageOf } from '../http/paging.ts';
import { lastSeals, listRuns, requestVerification, viewRun } from './runs.ts';

export const ledgerHandlers: HandlersOf<typeof api.ledger> = {
  async verify(ctx) {
    const id = await inTransaction(ctx.db, (trx) => requestVerification(ctx, trx, ctx.user.id));
    return { isSuccess: true, entity: await viewRun(ctx.db, id) };
  },
  async list({ db }, { entityFilterRequest }) {
    const [{ entities, count, lastIsSound }, seals] = await Promise.all([
      listRuns(db, entityFilterRequest),
      lastSeals(db),
    ]);
    return { ...pageOf(entities, count, entityFilterRequest), lastIsSound, seals };
  },
};
