import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { edgesOf, LISTS, type List, rowsOf } from './lists.ts';
import { learn, store, type TermBlocks } from './termBlocks.ts';

/** News of one transaction. */
export const STEP = 500;

/** Has the indexes know what has come and changed. News of lists that have no index are forgotten. Answers how many there were. */
export async function follow(trx: Db): Promise<number> {
  const { rows: news } = await sql<List & { ids: number[]; count: number }>`
    with news as (
      delete from skip_news where id = any(array(select id from skip_news order by id limit ${STEP}))
      returning of_table, workspace_id, row_id)
    select of_table as "table", workspace_id as "workspaceId", array_agg(row_id) as ids, count(*)::int as count
    from news group by 1, 2`.execute(trx);
  for (const list of news) await tell(trx, list, list.ids);
  return news.reduce((sum, { count }) => sum + count, 0);
}

async function tell(trx: Db, list: List, ids: readonly number[]): Promise<void> {
  const indexes = await trx
    .updateTable('skip_index')
    .set((set) => ({ changes: set('changes', '+', ids.length) }))
    .where('of_table', '=', list.table)
    .where('workspace_id', '=', list.workspaceId)
    .returning(['id', 'sorted_by'])
    .execute();
  for (const { id, sorted_by } of indexes) {
    const { rows } = await sql<{ search: string; no: number }>`
      select search, width_bucket(${sql.ref(sorted_by)}, ${edgesOf(sql`skip_index where id = ${id}`, list, sorted_by)}) as no
      from ${rowsOf(list)} and ${sql.ref(LISTS[list.table].id)} = any(${[...ids]}::int[])`.execute(trx);
    const known: TermBlocks = new Map();
    for (const { search, no } of rows) learn(known, no, search);
    await store(trx, id, known);
  }
}
