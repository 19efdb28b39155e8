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

interface Rows {
  from: RawBuilder<unknown>;
  where: RawBuilder<boolean>;
  /** The listed rows' id, unique and an integer. */
  id: RawBuilder<number>;
  /** What is sorted by, first things first; rows that agree in it are sorted by id. */
  order: readonly RawBuilder<unknown>[];
}

interface Narrowed extends Rows {
  /** What is looked for: how many rows have it, nothing tells beforehand. */
  has: RawBuilder<boolean>;
  /** An order that has little to do with it, along an index that tells whether a row has it. Null where there is none. */
  sample: RawBuilder<unknown> | null;
  /** Where an index leads to the rows that have it; the next one is tried where the one before leads to too many. */
  few: readonly Few[];
  countMax?: number;
}

interface Few {
  from: RawBuilder<unknown>;
  where: RawBuilder<boolean>;
  /** What is left to be looked at, when no more rows than are sorted came by the index. */
  has?: RawBuilder<boolean>;
  /** No more of these are sorted, as each takes a way of its own into the table. */
  most?: number;
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

/** Tests set others. */
export interface Bounds {
  /** So many rows of the list are looked at to see how many have it. */
  sample: number;
  /** The page is looked for along its order where that promises to meet no more rows than this. */
  met: number;
  /** No more rows than this are sorted. */
  few: number;
}
const BOUNDS: Bounds = { sample: 3_000, met: 80_000, few: COUNT_MAX };

/**
 * One page of those rows of a list that have something: few are found by an index of what is looked for and sorted, many
 * are met soon on the way along the order's index, whose columns tell whether a row has it. Which of the two it is, is
 * looked up and not left to an estimate of the planner, which may be wrong by a factor of a thousand. The page is the
 * same however it is found.
 */
export async function pageOfFound(
  db: Db,
  narrowed: Narrowed,
  request: EntityFilterRequest,
  bounds = BOUNDS,
): Promise<Page> {
  const { countMax = COUNT_MAX } = narrowed;
  const end = offsetOf(request) + request.limit;
  const needed = Math.max(end, countMax + 1);
  if (narrowed.sample) {
    const { rows, found } = await lookAt(db, narrowed, narrowed.sample, bounds.sample);
    if (rows < bounds.sample) return walk(db, narrowed, request, Math.max(end, rows));
    if ((needed * rows) / found <= bounds.met) {
      const page = await walk(db, narrowed, request, needed);
      return page.count < needed ? page : { ...page, count: countMax, isMore: true };
    }
  }
  const most = ({ most = bounds.few }: Few) => Math.min(most, bounds.few);
  for (const few of narrowed.few) {
    const page = await sortFew(db, narrowed, few, request, most(few));
    if (page) return page;
  }
  return { ...(await walk(db, narrowed, request, end)), count: Math.max(...narrowed.few.map(most)), isMore: true };
}

async function lookAt(
  db: Db,
  { from, where, has }: Narrowed,
  order: RawBuilder<unknown>,
  most: number,
): Promise<{ rows: number; found: number }> {
  const { rows } = await sql<{ rows: number; found: number }>`
    select count(*)::int as rows, count(*) filter (where found)::int as found
    from (select ${has} as found from ${from} where ${where} order by ${order} limit ${most}) as sample`.execute(db);
  return rows[0] ?? { rows: 0, found: 0 };
}

/**
 * Meets rows in their order until `needed` of them have it. What is looked for is wrapped, as the planner takes it for
 * common then and keeps to the index of the order; "offset 0" has the way gone once for both answers.
 */
async function walk(
  db: Db,
  { from, where, has, id, order }: Narrowed,
  request: EntityFilterRequest,
  needed: number,
): Promise<Page> {
  const start = offsetOf(request);
  const { rows } = await sql<{ ids: number[]; count: number }>`
    select ids[${start + 1}::int:${start + request.limit}::int] as ids, cardinality(ids) as count
    from (select array(
      select ${id} from ${from} where ${where} and case when ${has} then true else false end
      order by ${sorted([...order, id], request)} limit ${needed}) as ids offset 0) as met`.execute(db);
  const { ids, count } = rows[0] ?? { ids: [], count: 0 };
  return { ids, count, isMore: false };
}

/** Null where the index leads to more than `most`. */
async function sortFew(
  db: Db,
  { id, order }: Narrowed,
  { from, where, has = sql<boolean>`true` }: Few,
  request: EntityFilterRequest,
  most: number,
): Promise<Page | null> {
  const places = order.map((column, at) => sql`${column} as ${place(at)}`);
  const { rows } = await sql<{ ids: number[]; count: number; led: number }>`
    with few as materialized (
      select ${id} as id, ${sql.join([...places, sql`${has} as found`])} from ${from} where ${where} limit ${most + 1})
    select (select count(*)::int from few) as led, (select count(*)::int from few where found) as count, array(
      select id from few where found and (select count(*) from few) <= ${most}
      order by ${sorted([...order.map((_, at) => place(at)), sql`id`], request)}
      limit ${request.limit} offset ${offsetOf(request)}) as ids`.execute(db);
  const { ids, count, led } = rows[0] ?? { ids: [], count: 0, led: 0 };
  return led > most ? null : { ids, count, isMore: false };
}

const place = (at: number): RawBuilder<unknown> => sql.ref(`place${at}`);

const sorted = (columns: readonly RawBuilder<unknown>[], { orderByDirection }: EntityFilterRequest) =>
  sql.join(columns.map((column) => sql`${column} ${sql.raw(orderByDirection)}`));
