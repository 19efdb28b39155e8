import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { LISTS, type List, rowsOf } from './lists.ts';
import { BLOCKS_MOST, learn, store, type TermBlocks } from './termBlocks.ts';

/** Rows of one statement. */
const AT_ONCE = 5_000;

interface Row {
  id: number;
  place: string;
  search: string;
}

/** One index over all rows of a list, in place of the one that is there. Answers how many rows it knows. */
export async function build(trx: Db, list: List, sortedBy: string, blockRows: number): Promise<number> {
  const lows: string[] = [];
  const known: TermBlocks = new Map();
  let count = 0;
  let inBlock = 0;
  let before: Row | null = null;
  for (let read = AT_ONCE; read === AT_ONCE; ) {
    const rows = await next(trx, list, sortedBy, before);
    read = rows.length;
    for (const row of rows) {
      // What stands at one place stands in one block, so that the place tells which.
      if (inBlock >= blockRows && row.place !== before?.place && lows.length < BLOCKS_MOST - 1) {
        lows.push(row.place);
        inBlock = 0;
      }
      learn(known, lows.length, row.search);
      inBlock += 1;
      count += 1;
      before = row;
    }
  }
  await trx
    .deleteFrom('skip_index')
    .where('of_table', '=', list.table)
    .where('workspace_id', '=', list.workspaceId)
    .where('sorted_by', '=', sortedBy)
    .execute();
  const { id } = await trx
    .insertInto('skip_index')
    .values({ of_table: list.table, workspace_id: list.workspaceId, sorted_by: sortedBy, lows, row_count: count })
    .returning('id')
    .executeTakeFirstOrThrow();
  await store(trx, id, known);
  return count;
}

async function next(trx: Db, list: List, sortedBy: string, after: Row | null): Promise<Row[]> {
  const place = sql.ref(sortedBy);
  const id = sql.ref(LISTS[list.table].id);
  const behind: RawBuilder<boolean> = after ? sql`(${place}, ${id}) > (${after.place}, ${after.id})` : sql`true`;
  const { rows } = await sql<Row>`select ${id} as id, ${place}::text as place, search from ${rowsOf(list)} and ${behind}
    order by ${place}, ${id} limit ${AT_ONCE}`.execute(trx);
  return rows;
}
