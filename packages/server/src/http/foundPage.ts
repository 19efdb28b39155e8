import type { EntityFilterRequest } from '@stagi/contract/page.ts';
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { blocksOf, type Sought } from '../skipIndex/blocks.ts';
import { roundsOf, type Stretch } from '../skipIndex/rounds.ts';
import { COUNT_MAX, type Page, place, type Rows, sorted } from './cappedPage.ts';
import { offsetOf } from './paging.ts';

interface Narrowed extends Rows {
  /** What is looked for: how many rows have it, nothing tells beforehand. */
  has: RawBuilder<boolean>;
  /** An order that has little to do with it, along an index that tells whether a row has it. Null where there is none. */
  sample: RawBuilder<unknown> | null;
  /** Where an index leads to the rows that have it, or to some more; the next one is tried where one leads to too many. */
  few: readonly Few[];
  /** What an index of the order (skipIndex/) is asked for, of a list that may have one. */
  skip?: Sought | null;
  countMax?: number;
}

interface Few {
  /** What leads to more rows than are sorted needs to give no more than a limit. */
  from: (limit: number) => RawBuilder<unknown>;
  where: RawBuilder<boolean>;
  /** What the rows have that it leads to: how common that is tells which of several leads to fewer. */
  leads?: RawBuilder<boolean>;
  /** What is left to be looked at, when no more rows than are sorted came by the index. */
  has?: RawBuilder<boolean>;
  /** No more of these are sorted, as each takes a way of its own into the table. */
  most?: number;
  /** As many rows as `where` leads to, where they are counted faster than they are read. */
  counted?: RawBuilder<unknown>;
}

/** Tests set others. */
export interface Bounds {
  /** So many rows of the list are looked at to see how many have it. */
  sample: number;
  /**
   * The page is looked for along its order where that promises to meet no more rows than this for each index that might
   * lead to few in vain.
   */
  met: number;
  /** No more rows than this are sorted. */
  few: number;
  /**
   * What cannot have it is skipped where the first rows stand so many times later in the page's order than they would if
   * what is looked for had nothing to do with it.
   */
  late: number;
  /** And where so many rows are likely to be met, as several stretches of the order are gone along at once then. */
  long: number;
}
const BOUNDS: Bounds = { sample: 3_000, met: 140_000, few: COUNT_MAX, late: 3, long: 50_000 };

/** The row of the sample that tells where a page begins: one alone may stand anywhere. */
const FIRST = 3;

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
  const sample = narrowed.sample && (await lookAt(db, narrowed, narrowed.sample, request, bounds));
  if (sample) {
    const { rows, found, isLate } = sample;
    if (rows < bounds.sample) return walk(db, narrowed, request, Math.max(end, rows));
    const likelyMet = (needed * rows) / found;
    if (likelyMet <= bounds.met * narrowed.few.length) {
      const page = await (isLate || likelyMet >= bounds.long ? skipAlong : walk)(db, narrowed, request, needed);
      return page.count < needed ? page : { ...page, count: countMax, isMore: true };
    }
  }
  const { few } = sample ?? narrowed;
  const page = await sortFirstFew(db, narrowed, few, request, bounds.few);
  if (page) return page;
  const most = Math.max(...few.map(({ most = bounds.few }) => Math.min(most, bounds.few)));
  return { ...(await skipAlong(db, narrowed, request, end)), count: most, isMore: true };
}

interface Sample {
  rows: number;
  found: number;
  /** The rarest things first. */
  few: Few[];
  /** The first rows that have it stand late in the page's order. */
  isLate: boolean;
}

async function lookAt(
  db: Db,
  { from, where, has, order, few }: Narrowed,
  along: RawBuilder<unknown>,
  { orderByDirection }: EntityFilterRequest,
  bounds: Bounds,
): Promise<Sample> {
  const leads = few.map((one, at) => sql`${one.leads ?? sql`false`} as ${leading(at)}`);
  const led = few.map((_, at) => sql`count(*) filter (where ${leading(at)})::int`);
  const { rows } = await sql<{ rows: number; found: number; led: number[]; before: number }>`
    with sample as materialized (
      select ${sql.join([sql`${has} as found`, sql`${order[0]} as ${place(0)}`, ...leads])}
      from ${from} where ${where} order by ${along} limit ${bounds.sample})
    select count(*)::int as rows, count(*) filter (where found)::int as found, array[${sql.join(led)}]::int[] as led,
      (select count(*)::int from sample where ${place(0)} ${orderByDirection === 'asc' ? sql`<` : sql`>`} (
        select ${place(0)} from sample where found order by ${place(0)} ${sql.raw(orderByDirection)}
        offset ${FIRST - 1} limit 1)) as before
    from sample`.execute(db);
  const { led: by = [], before, ...sample } = rows[0] ?? { rows: 0, found: 0, before: 0 };
  return {
    ...sample,
    few: few.toSorted((a, b) => by[few.indexOf(a)]! - by[few.indexOf(b)]!),
    isLate: before > (bounds.late * FIRST * sample.rows) / sample.found,
  };
}

/** Meets rows in their order until `needed` of them have it. */
async function walk(db: Db, narrowed: Narrowed, request: EntityFilterRequest, needed: number): Promise<Page> {
  return pageOfMet([await meet(db, narrowed, request, needed)], request, needed);
}

/** The same past all blocks of the order that cannot have it, several stretches of the others at once. */
async function skipAlong(db: Db, narrowed: Narrowed, request: EntityFilterRequest, needed: number): Promise<Page> {
  const blocks = narrowed.skip && (await blocksOf(db, narrowed.skip, narrowed));
  if (!blocks) return walk(db, narrowed, request, needed);
  const all: Met[] = [];
  let missing = needed;
  for (const round of roundsOf(blocks, request.orderByDirection === 'asc')) {
    const met = await Promise.all(round.map((stretch) => meet(db, narrowed, request, missing, stretch)));
    all.push(...met);
    missing -= met.reduce((sum, { count }) => sum + count, 0);
    if (missing <= 0) break;
  }
  return pageOfMet(all, request, needed);
}

function pageOfMet(all: readonly Met[], request: EntityFilterRequest, needed: number): Page {
  const start = offsetOf(request);
  const ids = all.flatMap((met) => met.ids).slice(start, start + request.limit);
  const count = all.reduce((sum, met) => sum + met.count, 0);
  return { ids, count: Math.min(count, needed), isMore: false };
}

interface Met {
  ids: number[];
  count: number;
}

/**
 * What is looked for is wrapped, as the planner takes it for common then and keeps to the index of the order; "offset 0"
 * has the way gone once for both answers.
 */
async function meet(
  db: Db,
  { from, where, has, id, order }: Narrowed,
  request: EntityFilterRequest,
  needed: number,
  { low, high }: Stretch = { low: null, high: null },
): Promise<Met> {
  const isIn = [
    where,
    ...(low === null ? [] : [sql<boolean>`${order[0]} >= ${low}`]),
    ...(high === null ? [] : [sql<boolean>`${order[0]} < ${high}`]),
  ];
  const { rows } = await sql<Met>`
    select ids[1:${offsetOf(request) + request.limit}::int] as ids, cardinality(ids) as count
    from (select array(
      select ${id} from ${from} where ${sql.join(isIn, sql` and `)} and case when ${has} then true else false end
      order by ${sorted([...order, id], request)} limit ${needed}) as ids offset 0) as met`.execute(db);
  return rows[0] ?? { ids: [], count: 0 };
}

/** Null where each index leads to more than may be sorted. */
async function sortFirstFew(
  db: Db,
  rows: Rows,
  few: readonly Few[],
  request: EntityFilterRequest,
  most: number,
): Promise<Page | null> {
  for (const one of few) {
    const page = await sortFew(db, rows, one, request, Math.min(one.most ?? most, most));
    if (page) return page;
  }
  return null;
}

async function sortFew(
  db: Db,
  { id, order }: Rows,
  { from, where, has = sql<boolean>`true`, counted }: Few,
  request: EntityFilterRequest,
  most: number,
): Promise<Page | null> {
  if (counted && (await isMoreThan(db, counted, most))) return null;
  const places = order.map((column, at) => sql`${column} as ${place(at)}`);
  const { rows } = await sql<{ ids: number[]; count: number; led: number }>`
    with few as materialized (
      select ${id} as id, ${sql.join([...places, sql`${has} as found`])} from ${from(most + 1)} where ${where} limit ${most + 1}),
    total as (select count(*)::int as led, count(*) filter (where found)::int as count from few)
    select led, count, array(
      select id from few where found and led <= ${most}
      order by ${sorted([...order.map((_, at) => place(at)), sql`id`], request)}
      limit ${request.limit} offset ${offsetOf(request)}) as ids
    from total`.execute(db);
  const { ids, count, led } = rows[0] ?? { ids: [], count: 0, led: 0 };
  if (led > most) return null;
  return { ids, count: Math.min(count, COUNT_MAX), isMore: count > COUNT_MAX };
}

async function isMoreThan(db: Db, counted: RawBuilder<unknown>, most: number): Promise<boolean> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from (${counted} limit ${most + 1}) as counted`.execute(db);
  return (rows[0]?.count ?? 0) > most;
}

const leading = (at: number): RawBuilder<unknown> => sql.ref(`leads${at}`);
