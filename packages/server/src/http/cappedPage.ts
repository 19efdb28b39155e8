import type { EntityFilterRequest } from '@stagi/contract/page.ts';
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { offsetOf } from './paging.ts';

/** More rows than this match: a list of millions counts no further, as nobody turns that many pages. */
export const COUNT_MAX = 10_000;
/** Where a text is looked for and many have it, only so many are counted: each row that lacks it is looked at as well. */
export const FOUND_COUNT_MAX = 1_000;

export interface Page {
  ids: number[];
  count: number;
  /** More than `count` match. */
  isMore: boolean;
}

export interface Rows {
  from: RawBuilder<unknown>;
  where: RawBuilder<boolean>;
  /** The listed rows' id, unique and an integer. */
  id: RawBuilder<number>;
  /** What is sorted by, first things first; rows that agree in it are sorted by id. */
  order: readonly RawBuilder<unknown>[];
}

/**
 * One page of a list of any length, and how many rows there are, counted to `COUNT_MAX`. Where `where` holds one of
 * several values, `each` says so value by value: an index that begins with it is in order for one value alone.
 */
export async function cappedPage(
  db: Db,
  { from, where, id, order, each = [where] }: Rows & { each?: readonly RawBuilder<boolean>[] },
  request: EntityFilterRequest,
  countMax = COUNT_MAX,
): Promise<Page> {
  const offset = offsetOf(request);
  const places = order.map((column, at) => sql`${column} as ${place(at)}`);
  const counted = each.map((one) => sql`(select from ${from} where ${one} limit ${countMax + 1})`);
  const met = each.map(
    (one) => sql`(select ${id} as id, ${sql.join(places)} from ${from} where ${one}
      order by ${sorted([...order, id], request)} limit ${offset + request.limit})`,
  );
  const { rows } = await sql<{ ids: number[]; count: number }>`
    select (select count(*)::int from (${sql.join(counted, sql` union all `)}) as counted) as count,
      array(select id from (${sql.join(met, sql` union all `)}) as met
        order by ${sorted([...order.map((_, at) => place(at)), sql`id`], request)}
        limit ${request.limit} offset ${offset}) as ids`.execute(db);
  const { ids, count } = rows[0] ?? { ids: [], count: 0 };
  return { ids, count: Math.min(count, countMax), isMore: count > countMax };
}

/** What is sorted by, as columns of a subquery. */
export const place = (at: number): RawBuilder<unknown> => sql.ref(`place${at}`);

export const sorted = (columns: readonly RawBuilder<unknown>[], { orderByDirection }: EntityFilterRequest) =>
  sql.join(columns.map((column) => sql`${column} ${sql.raw(orderByDirection)}`));
