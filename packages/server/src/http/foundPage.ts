import type { EntityFilterRequest } from '@stagi/contract/page.ts';
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { COUNT_MAX, type Page, place, type Rows, sorted } from './cappedPage.ts';
import { offsetOf } from './paging.ts';

interface Narrowed extends Rows {
  /** What is looked for: how many rows have it, nothing tells beforehand. */
  has: RawBuilder<boolean>;
  /** An order that has little to do with it, along an index that tells whether a row has it. Null where there is none. */
  sample: RawBuilder<unknown> | null;
  /** Where an index leads to the rows that have it, or to some more; the next one is tried where one leads to too many. */
  few: readonly Few[];
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
  /** No more where it is far to the first row along the order. */
  fewWhereFar: number;
  /**
   * The page's order is gone along in several lanes at once where the first rows stand so many times later than they would
   * if what is looked for had nothing to do with it.
   */
  late: number;
  /** A row takes as long to be found and sorted as so many take to be met in all lanes. */
  sortedAsMet: number;
}
const BOUNDS: Bounds = { sample: 3_000, met: 140_000, few: COUNT_MAX, late: 3, fewWhereFar: 30_000, sortedAsMet: 32 };

/** The row of the sample that tells where a page begins: one alone may stand anywhere. */
const FIRST = 3;
/** Where a way along the order is parted, as the places of so many rows tell. */
const PARTS = [0.25, 0.5, 0.75];
const PARTED = 200;

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
    const { rows, found, few, cuts, isFar } = sample;
    if (rows < bounds.sample) return walk(db, narrowed, request, Math.max(end, rows));
    const page = isFar && (await sortFirstFew(db, narrowed, few, request, bounds.fewWhereFar));
    if (page) return page;
    if ((needed * rows) / found <= bounds.met * few.length) {
      const page = await walk(db, narrowed, request, needed, cuts);
      return page.count < needed ? page : { ...page, count: countMax, isMore: true };
    }
  }
  const { few, cuts } = sample ?? { few: narrowed.few, cuts: [] };
  const page = await sortFirstFew(db, narrowed, few, request, bounds.few);
  if (page) return page;
  const most = Math.max(...few.map(({ most = bounds.few }) => Math.min(most, bounds.few)));
  return { ...(await walk(db, narrowed, request, end, cuts)), count: most, isMore: true };
}

interface Sample {
  rows: number;
  found: number;
  /** The rarest things first. */
  few: Few[];
  /** Where the first rows that have it stand late in the page's order: places that part the way to them, in turn. */
  cuts: string[];
  /** To sort all that have it takes less time than that way. */
  isFar: boolean;
}

async function lookAt(
  db: Db,
  { from, where, has, order, few }: Narrowed,
  along: RawBuilder<unknown>,
  { orderByDirection }: EntityFilterRequest,
  bounds: Bounds,
): Promise<Sample> {
  const isAsc = orderByDirection === 'asc';
  const leads = few.map((one, at) => sql`${one.leads ?? sql`false`} as ${leading(at)}`);
  const led = few.map((_, at) => sql`count(*) filter (where ${leading(at)})::int`);
  const { rows } = await sql<{ rows: number; found: number; led: number[]; before: number; cuts: string[] | null }>`
    with sample as materialized (
      select ${sql.join([sql`${has} as found`, sql`${order[0]} as ${place(0)}`, ...leads])}
      from ${from} where ${where} order by ${along} limit ${bounds.sample}),
    before as (
      select ${place(0)} from sample where ${place(0)} ${isAsc ? sql`<` : sql`>`} (
        select ${place(0)} from sample where found order by ${place(0)} ${sql.raw(orderByDirection)} offset ${FIRST - 1} limit 1))
    select count(*)::int as rows, count(*) filter (where found)::int as found, array[${sql.join(led)}]::int[] as led,
      (select count(*)::int from before) as before,
      (select percentile_disc(${isAsc ? PARTS : PARTS.toReversed()}::float8[]) within group (order by ${place(0)})::text[]
        from (select ${place(0)} from before limit ${PARTED}) as parted) as cuts
    from sample`.execute(db);
  const { led: by = [], before, cuts, ...sample } = rows[0] ?? { rows: 0, found: 0, before: 0, cuts: null };
  const isLate = before > (bounds.late * FIRST * sample.rows) / sample.found;
  return {
    ...sample,
    few: few.toSorted((a, b) => by[few.indexOf(a)]! - by[few.indexOf(b)]!),
    cuts: (isLate && cuts) || [],
    isFar: isLate && sample.found * bounds.sortedAsMet < before,
  };
}

/**
 * Meets rows in their order until `needed` of them have it: in several lanes at once where the way is cut, as one alone
 * would take as long as all together.
 */
async function walk(
  db: Db,
  narrowed: Narrowed,
  request: EntityFilterRequest,
  needed: number,
  cuts: readonly string[] = [],
): Promise<Page> {
  const start = offsetOf(request);
  const lanes = await Promise.all(
    [null, ...cuts].map((from, at) => lane(db, narrowed, request, needed, [from, cuts[at] ?? null])),
  );
  const ids = lanes.flatMap((met) => met.ids).slice(start, start + request.limit);
  const count = lanes.reduce((sum, met) => sum + met.count, 0);
  return { ids, count: Math.min(count, needed), isMore: false };
}

/**
 * What is looked for is wrapped, as the planner takes it for common then and keeps to the index of the order; "offset 0"
 * has the way gone once for both answers.
 */
async function lane(
  db: Db,
  { from, where, has, id, order }: Narrowed,
  request: EntityFilterRequest,
  needed: number,
  [after, to]: readonly [string | null, string | null],
): Promise<{ ids: number[]; count: number }> {
  const isAsc = request.orderByDirection === 'asc';
  const isIn = [
    where,
    ...(after === null ? [] : [sql<boolean>`${order[0]} ${isAsc ? sql`>` : sql`<`} ${after}`]),
    ...(to === null ? [] : [sql<boolean>`${order[0]} ${isAsc ? sql`<=` : sql`>=`} ${to}`]),
  ];
  const { rows } = await sql<{ ids: number[]; count: number }>`
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
