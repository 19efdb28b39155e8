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
  const ids = isMore ? [...chosen] : rows.map(({ id }) => id);
  const isOne = sql<boolean>`a.user_id = any(${ids}::int[])`;
  return {
    actors: await actors(db, actorsInChain(chain, isOne), BY_NAME),
    ...(isMore && { isMoreActors: true as const }),
  };
}

/** Nobody turns more pages of people. */
const FOUND_MOST = 100;
/** Who acted last is looked for among so many entries. */
const NEWEST = 1_000;

/** Those who stand in a log and are called so, by name; without a text who acted last, newest first. */
export async function findActors(
  db: Db,
  chain: number,
  request: EntityFilterRequest,
): Promise<{ entities: Actor[]; count: number; isMore: boolean }> {
  sortColumn(request, { createdAt: 'name' });
  const { queryString: text, limit } = request;
  const found = text
    ? await actors(db, actorsInChain(chain, searchesPeople('u', text)), BY_NAME)
    : await lastActors(db, chain);
  const start = offsetOf(request);
  return {
    entities: found.slice(0, FOUND_MOST).slice(start, start + limit),
    count: Math.min(found.length, FOUND_MOST),
    isMore: found.length > FOUND_MOST,
  };
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

const actorsInChain = (chain: number, isOne: RawBuilder<boolean>): RawBuilder<unknown> =>
  sql`(select u.id, u.name, u.email from audit_actor a join app_user u on u.id = a.user_id
    where a.chain = ${chain} and ${isOne})`;

async function actors(db: Db, from: RawBuilder<unknown>, order: RawBuilder<unknown>): Promise<Actor[]> {
  const { rows } = await sql<Actor>`
    select id as "userId", name, email from ${from} as actor order by ${order} limit ${FOUND_MOST + 1}`.execute(db);
  return rows;
}
