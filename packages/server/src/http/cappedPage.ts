import type { EntityFilterRequest } from '@stagi/contract/page.ts';
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { offsetOf } from './paging.ts';

/** More rows than this match: a list of millions counts no further, as nobody turns that many pages. */
export const COUNT_MAX = 10_000;
interface Asked {
  from: RawBuilder<unknown>;
  /** What an index knows. */
  where: RawBuilder<boolean>;
  /** A text that is looked for: how many rows have it, no index tells beforehand. */
  search: RawBuilder<boolean> | null;
  /** The listed rows' id, unique and an integer. */
  id: RawBuilder<number>;
  order: RawBuilder<unknown>;
}

/**
 * The ids of one page of a list of any length, and how many rows match, counted to `COUNT_MAX`. Where a text is looked
 * for, fewer rows than that are found first and sorted then; of more, the page is met soon on the way along the order's
 * index. Which of the two it is, is looked up and not left to an estimate, which may be wrong by a factor of a thousand.
 */
export async function cappedPage(
  db: Db,
  { from, where, search, id, order }: Asked,
  request: EntityFilterRequest,
  countMax = COUNT_MAX,
): Promise<{ ids: number[]; count: number }> {
  const direction = sql.raw(request.orderByDirection);
  const page = sql`limit ${request.limit} offset ${offsetOf(request)}`;
  const matching = search ? sql<boolean>`${where} and ${search}` : where;
  const alongIndex = (condition: RawBuilder<boolean>) =>
    sql`select ${id} as id from ${from} where ${condition} order by ${order} ${direction}, ${id} ${direction} ${page}`;
  const { rows } = search
    ? await sql<{ ids: number[]; count: number }>`
      with few as materialized (select ${id} as id, ${order} as place from ${from} where ${matching} limit ${countMax + 1}),
        counted as materialized (select count(*)::int as n from few)
      select (select n from counted) as count, array(
        (select id from few where (select n from counted) <= ${countMax}
          order by place ${direction}, id ${direction} ${page})
        union all
        (${alongIndex(sql`(select n from counted) > ${countMax} and ${matching}`)})) as ids`.execute(db)
    : await sql<{ ids: number[]; count: number }>`
      select (select count(*)::int from (select from ${from} where ${where} limit ${countMax}) as counted) as count,
        array(${alongIndex(where)}) as ids`.execute(db);
  const { ids, count } = rows[0] ?? { ids: [], count: 0 };
  return { ids, count: Math.min(count, countMax) };
}
