import type { api } from '@stagi/contract/api.ts';
import { inTransaction } from '../db/pool.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { pageOf } from '../http/paging.ts';
import { lockOperator } from '../people/lockedByOperator.ts';
import { handleContactRequest } from './handle.ts';
import { listContactRequests, viewContactRequest } from './list.ts';
import { sendContactRequest } from './send.ts';

export const contactHandlers: HandlersOf<typeof api.contact> = {
  async send(ctx, input) {
    await sendContactRequest(ctx, input);
    return { isSuccess: true };
  },
  async list({ db }, input) {
    const { entities, count } = await listContactRequests(db, input);
    return pageOf(entities, count, input.entityFilterRequest);
  },
  view: async ({ db }, { id }) => ({ isSuccess: true, entity: await viewContactRequest(db, id) }),
  async handle({ db, user }, input) {
    const entity = await inTransaction(db, async (trx) => {
      await lockOperator(trx, user.id);
      await handleContactRequest(trx, user.id, input);
      return viewContactRequest(trx, input.id);
    });
    return { isSuccess: true, entity };
  },
};
