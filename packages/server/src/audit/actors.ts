import { AUDIT_ACTORS_LISTED } from '@stagi/contract/audit.ts';
import type { EntityFilterRequest } from '@stagi/contract/page.ts';
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { offsetOf, sortColumn } from '../http/paging.ts';
import { searchesPeople } from '../http/search.ts';

interface Actor {
  userId: number;
  name: string;
  email: string;
}

/**
 * Everybody who stands in a log, by name. Of more than can be chosen from at a glance only those who are chosen: to sort
 * all by their names would take as long as there are people, for each page of the log.
 */
export async function actorsOf(
  db: Db,
  chain: number,
  chosen: readonly number[] = [],
): Promise<{ actors: Actor[]; isMoreActors?: true }> {
  const { rows } = await sql<{ id: number }>`
    select user_id as id from audit_actor where chain = ${chain} order by user_id limit ${AUDIT_ACTORS_LISTED + 1}`.execute(
    db,
  );
  const isMore = rows.length > AUDIT_ACTORS_LISTED;
  const ids = isMore ? chosen : rows.map(idOf);
  return { actors: await actors(db, among(chain, ids), BY_NAME), ...(isMore && { isMoreActors: true as const }) };
}

/** Nobody turns more pages of people. */
const FOUND_MOST = 100;
/** Who acted last is looked for among so many entries. */
const NEWEST = 1_000;

/** Tests set others. */
interface Bounds {
  /** So many people of the platform who are called so are held against the log, by its index. */
  few: number;
  /** Of a name that more have, those of the log are asked for theirs, in so many lanes at once, */
  lanes: number;
  /** no more than so many in each. */
  asked: number;
}
const BOUNDS: Bounds = { few: 2_000, lanes: 4, asked: 100_000 };

/** Those who stand in a log and are called so, by name; without a text who acted last, newest first. */
export async function findActors(
  db: Db,
  chain: number,
  request: EntityFilterRequest,
  bounds = BOUNDS,
): Promise<{ entities: Actor[]; count: number; isMore: boolean }> {
  sortColumn(request, { createdAt: 'name' });
  const { queryString: text, limit } = request;
  const found = text ? await actorsCalled(db, chain, text, bounds) : await lastActors(db, chain);
  const start = offsetOf(request);
  return {
    entities: found.slice(0, FOUND_MOST).slice(start, start + limit),
    count: Math.min(found.length, FOUND_MOST),
    isMore: found.length > FOUND_MOST,
  };
}

async function actorsCalled(db: Db, chain: number, text: string, { few, lanes, asked }: Bounds): Promise<Actor[]> {
  const isCalled = searchesPeople('u', text);
  const { rows } = await sql<{ id: number }>`select u.id from app_user u where ${isCalled} limit ${few + 1}`.execute(
    db,
  );
  if (rows.length <= few) return actors(db, among(chain, rows.map(idOf)), BY_NAME);
  const { first, last } = await edgesOf(db, chain);
  const length = Math.ceil((last - first + 1) / lanes);
  const met = await Promise.all(
    Array.from({ length: lanes }, (_, n) => lane(db, chain, isCalled, first + n * length, length, asked)),
  );
  return actors(db, among(chain, met.flat().slice(0, FOUND_MOST + 1)), BY_NAME);
}

async function edgesOf(db: Db, chain: number): Promise<{ first: number; last: number }> {
  const { rows } = await sql<{ first: number; last: number }>`
    select coalesce(min(user_id), 0) as first, coalesce(max(user_id), 0) as last from audit_actor
    where chain = ${chain}`.execute(db);
  return rows[0]!;
}

const idOf = ({ id }: { id: number }): number => id;

/**
 * Those of one part of a log, of `length` ids from `first` on, who are called so. Their ids as an array let the database
 * go along its index once, and what is looked for is wrapped, as it would read all people who are called so otherwise.
 */
async function lane(
  db: Db,
  chain: number,
  isCalled: RawBuilder<boolean>,
  first: number,
  length: number,
  asked: number,
): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select u.id from app_user u
    where u.id = any(array(
        select user_id from audit_actor
        where chain = ${chain} and user_id >= ${first} and user_id < ${first + length} order by user_id limit ${asked}))
      and case when ${isCalled} then true else false end
    order by u.id limit ${FOUND_MOST + 1}`.execute(db);
  return rows.map(idOf);
}

function lastActors(db: Db, chain: number): Promise<Actor[]> {
  const newest = sql`select actor_id, seq from audit where chain = ${chain} order by seq desc limit ${NEWEST}`;
  return actors(
    db,
    sql`(select u.id, u.name, u.email, last.seq
      from (select actor_id, max(seq) as seq from (${newest}) newest where actor_id is not null
        group by actor_id order by 2 desc limit ${FOUND_MOST + 1}) last
        join app_user u on u.id = last.actor_id)`,
    sql`seq desc`,
  );
}

const BY_NAME = sql`name, id`;

const among = (chain: number, ids: readonly number[]): RawBuilder<unknown> =>
  sql`(select u.id, u.name, u.email from audit_actor a join app_user u on u.id = a.user_id
    where a.chain = ${chain} and a.user_id = any(${[...ids]}::int[]))`;

async function actors(db: Db, from: RawBuilder<unknown>, order: RawBuilder<unknown>): Promise<Actor[]> {
  const { rows } = await sql<Actor>`
    select id as "userId", name, email from ${from} as actor order by ${order} limit ${FOUND_MOST + 1}`.execute(db);
  return rows;
}
