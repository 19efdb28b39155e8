import type { api } from '@stagi/contract/api.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { pageOf } from '../http/paging.ts';
import { lockOperator } from '../people/lockedByOperator.ts';
import { addEntry, editEntry, hideEntry, lockCatalogue, removeChange, showEntry } from './change.ts';
import { listEntries, viewEntry } from './entries.ts';

interface Acting {
  db: Db;
  user: { id: number };
}

export const adminModelHandlers: HandlersOf<typeof api.adminModels> = {
  async list({ db }, input) {
    const { entities, count } = await listEntries(db, input);
    return pageOf(entities, count, input.entityFilterRequest);
  },
  view: async ({ db }, { modelId }) => ({ isSuccess: true, entity: await viewEntry(db, modelId) }),
  create: (ctx, input) => changing(ctx, input.modelId, (trx) => addEntry(trx, ctx.user.id, input)),
  edit: (ctx, input) => changing(ctx, input.modelId, (trx) => editEntry(trx, ctx.user.id, input)),
  hide: (ctx, { modelId }) => changing(ctx, modelId, (trx) => hideEntry(trx, ctx.user.id, modelId)),
  show: (ctx, { modelId }) => changing(ctx, modelId, (trx) => showEntry(trx, ctx.user.id, modelId)),
  async delete(ctx, { modelId }) {
    await changeAlone(ctx, (trx) => removeChange(trx, modelId));
    return { isSuccess: true };
  },
};

/** Runs an operator's change, and answers with the entry as it is then. */
async function changing(ctx: Acting, modelId: string, change: (trx: Db) => Promise<void>) {
  const entity = await changeAlone(ctx, async (trx) => {
    await change(trx);
    return viewEntry(trx, modelId);
  });
  return { isSuccess: true as const, entity };
}

const changeAlone = <T>({ db, user }: Acting, change: (trx: Db) => Promise<T>): Promise<T> =>
  inTransaction(db, async (trx) => {
    await lockOperator(trx, user.id);
    await lockCatalogue(trx);
    return change(trx);
  });
