import type { api } from '@stagi/contract/api.ts';
import { sql } from 'kysely';
import { notFound } from '../http/errors.ts';
import type { HandlersOf } from '../http/mount.ts';
import { isId, pageOf } from '../http/paging.ts';
import { pageOfTransactions } from './list.ts';
import { present, shown, type TransactionRow } from './present.ts';

export const transactionHandlers: HandlersOf<typeof api.transactions> = {
  async list({ db, workspace }, { entityFilterRequest, ...narrowed }) {
    const { entities, count } = await pageOfTransactions(db, workspace.id, narrowed, entityFilterRequest);
    return pageOf(entities, count, entityFilterRequest);
  },
  async view({ db, workspace }, { id }) {
    const { rows } = await sql<TransactionRow>`select ${shown} from billing_transaction t
      left join instance i on i.id = t.instance_id
      where t.workspace_id = ${workspace.id} and ${isId('t.id', id)}`.execute(db);
    if (!rows[0]) throw notFound();
    return { isSuccess: true, entity: present(rows[0]), segments: [] };
  },
};
