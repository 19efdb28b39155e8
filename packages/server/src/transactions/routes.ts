import type { api } from '@stagi/contract/api.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { pageOf } from '../http/paging.ts';
import { pageOfTransactions } from './list.ts';
import { viewTransaction } from './view.ts';

export const transactionHandlers: HandlersOf<typeof api.transactions> = {
  async list({ db, workspace }, { entityFilterRequest, ...narrowed }) {
    const { entities, count } = await pageOfTransactions(db, workspace.id, narrowed, entityFilterRequest);
    return pageOf(entities, count, entityFilterRequest);
  },
  async view({ db, workspace }, { id }) {
    return { isSuccess: true, ...(await viewTransaction(db, workspace.id, id)) };
  },
};
