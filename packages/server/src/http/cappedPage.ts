import type { EntityFilterRequest } from '@stagi/contract/page.ts';
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { offsetOf } from './paging.ts';

/** More rows than this match: a list of millions counts no further, as nobody turns that many pages. */
export const COUNT_MAX = 10_000;
/** So many matching rows are sorted faster than found by walking along an index of their order. */
const FEW = 20_000;

interface Asked {
  /** `from` with its joins, of which `t` is the listed table. */
  from: RawBuilder<unknown>;
  where: RawBuilder<boolean>;
  /** The listed rows' id, unique and an integer. */
  id: RawBuilder<number>;
  order: RawBuilder<unknown>;
}

/**
 * The ids of one page of a list of any length, and how many rows match, counted to `COUNT_MAX`. Few rows are found
 * first and sorted then; of many, the page is met soon on the way along the order's index. Which of the two it is, is
 * looked up and not left to an estimate, which for searches is often wrong by a factor of a thousand.
 */
export async function cappedPage(
  db: Db,
  { from, where, id, order }: Asked,
  request: EntityFilterRequest,
  { few = FEW, countMax = COUNT_MAX } = {},
): Promise<{ ids: number[]; count: number }> {
  const direction = sql.raw(request.orderByDirection);
  const page = sql`limit ${request.limit} offset ${offsetOf(request)}`;
  const { rows } = await sql<{ ids: number[]; count: number }>`
    with few as materialized (select ${id} as id, ${order} as place from ${from} where ${where} limit ${Math.max(few, countMax) + 1}),
      counted as materialized (select count(*)::int as n from few)
    select least((select n from counted), ${countMax}) as count, array(
      (select id from few where (select n from counted) <= ${few} order by place ${direction}, id ${direction} ${page})
      union all
      (select ${id} from ${from} where (select n from counted) > ${few} and ${where}
        order by ${order} ${direction}, ${id} ${direction} ${page})) as ids`.execute(db);
  return rows[0] ?? { ids: [], count: 0 };
}
