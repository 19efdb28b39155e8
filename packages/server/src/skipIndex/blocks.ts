import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { edgesOf, type List, ordersOf } from './lists.ts';
import { wantedFor } from './terms.ts';

/** Rows one behind the other in an order: from `low` to just before `high`; null where the order begins or ends. */
export interface Block {
  no: number;
  low: string | null;
  high: string | null;
}

export interface Sought {
  list: List;
  /** The column that is sorted by. */
  sortedBy: string;
  /** What the `search` column holds: one of these texts. */
  texts: readonly RawBuilder<string>[];
  /** Rows that are looked for whatever they hold. */
  also?: number | null;
}

/** Each row that no index knows of yet is looked at: of more than these the page is found faster without the index. */
const NEWS_MOST = 2_000;

interface Rows {
  from: RawBuilder<unknown>;
  where: RawBuilder<boolean>;
  has: RawBuilder<boolean>;
  id: RawBuilder<number>;
  order: readonly RawBuilder<unknown>[];
}

/**
 * The blocks of an order that may have rows that are looked for, in ascending order: all others have none. Null where no
 * index could tell.
 */
export async function blocksOf(
  db: Db,
  { list, sortedBy, texts, also }: Sought,
  { from, where, has, id, order }: Rows,
): Promise<Block[] | null> {
  if (!(sortedBy in ordersOf(list))) return null;
  const { table, workspaceId } = list;
  const { rows: asked } = await sql<{ texts: string[] }>`select array[${sql.join(texts)}]::text[] as texts`.execute(db);
  const told = asked[0]!.texts.map((text) => {
    const wanted = wantedFor(text);
    return 'terms' in wanted
      ? sql`select bit_and(blocks) as blocks from skip_term where skip_index_id = (select id from index)
          and term = any(${wanted.terms}::int[]) having count(*) = ${wanted.terms.length}`
      : sql`select bit_or(blocks) as blocks from skip_term where skip_index_id = (select id from index)
          and term between ${wanted.first} and ${wanted.last}`;
  });
  const { rows } = await sql<{ blocks: [no: number, low: string | null, high: string | null][] | null }>`
    with index as materialized (
      select id, lows from skip_index
      where of_table = ${table} and workspace_id = ${workspaceId} and sorted_by = ${sortedBy}),
    news as materialized (
      select row_id from skip_news where of_table = ${table} and workspace_id = ${workspaceId} limit ${NEWS_MOST + 1}),
    untold as materialized (
      select ${order[0]} as place from ${from}
      where ${where} and ${has} and ${id} = any(array(select row_id from news) || ${also ? [also] : []}::int[])),
    told as materialized (select bit_or(blocks) as blocks from (${sql.join(told, sql` union all `)}) as each),
    block as (
      select no, low, lead(low) over (order by no) as high from (
        select 0 as no, null as low union all
        select no::int, low from index, unnest(lows) with ordinality as edge (low, no)) as edge)
    select (
      select json_agg(json_build_array(no, low, high) order by no) from block
      where get_bit((select blocks from told), no) = 1
        or no in (select width_bucket(place, ${edgesOf(sql`index`, list, sortedBy)}) from untold)) as blocks
    from index where (select count(*) from news) <= ${NEWS_MOST}`.execute(db);
  return rows[0] ? (rows[0].blocks ?? []).map(([no, low, high]) => ({ no, low, high })) : null;
}
