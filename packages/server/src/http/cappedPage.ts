import type { EntityFilterRequest } from '@stagi/contract/page.ts';
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { offsetOf } from './paging.ts';

/** No more rows are counted: nobody turns that many pages. */
const COUNT_MAX = 10_000;
/** Of a search, which reads many rows for each one that matches. */
const MATCHES_MAX = 1_000;

interface Page {
  ids: number[];
  count: number;
  /** More than `count` match. */
  isMore: boolean;
}

interface List {
  from: RawBuilder<unknown>;
  /** All of these. */
  where: readonly RawBuilder<boolean>[];
  /** The listed rows' id, unique and an integer. */
  id: RawBuilder<number>;
  /** What is sorted by, first things first; rows that agree in it are sorted by id. */
  order: readonly RawBuilder<unknown>[];
}

/**
 * One page of a list of any length, and how many rows it has, up to a maximum. One statement reads the first rows in the
 * list's order, one more than are counted. PostgreSQL finds few matches by the text's index and sorts them; where many
 * match, it walks the index of the order until it has enough.
 */
export async function cappedPage(
  db: Db,
  { from, where, id, order }: List,
  request: EntityFilterRequest,
): Promise<Page> {
  const countMax = request.queryString ? MATCHES_MAX : COUNT_MAX;
  const start = offsetOf(request);
  const end = start + request.limit;
  const direction = sql.raw(request.orderByDirection);
  const sorted = sql.join([...order, id].map((column) => sql`${column} ${direction}`));
  // "offset 0" keeps the inner query from being run once for each use of its answer.
  const { rows } = await sql<{ ids: number[]; count: number }>`
    select ids[${start + 1}::int:${end}::int] as ids, cardinality(ids) as count
    from (select array(
      select ${id} from ${from} where ${sql.join(where, sql` and `)} order by ${sorted} limit ${Math.max(end, countMax + 1)}) as ids offset 0) as first`.execute(
    db,
  );
  const { ids, count } = rows[0]!;
  return { ids, count: Math.min(count, countMax), isMore: count > countMax };
}
