import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';

/** Unknown bytes of one place. */
export interface PlaceReview {
  place: string;
  count: bigint;
  /** The sum of those that were measured. */
  bytes: bigint | null;
  /** The oldest finding; null: nothing is unknown. */
  since: Date | null;
  approved: bigint;
  /** So much is unknown that nothing is removed without an operator's approval. Null: no comparison has ended yet. */
  hasAlarm: boolean | null;
}

const APPROVED_AT_ONCE = 10_000;

export async function reviewPlaces(db: Db): Promise<PlaceReview[]> {
  const { rows } = await sql<PlaceReview>`
    select place, count(name), sum(bytes)::bigint as bytes, min(found_at) as since,
      count(removal_approved_at) as approved, has_alarm as "hasAlarm"
    from quarantine_place full join unknown_bytes using (place)
    group by place, has_alarm order by place`.execute(db);
  return rows;
}

/** Has the next comparison of a place remove what is noted now, and still unknown then. Answers how many are approved. */
export async function approveRemoval(db: Db, place: string): Promise<bigint> {
  const { rows: now } = await sql<{ at: string }>`select now()::text as at`.execute(db);
  // By parts: a statement has only a few seconds.
  for (let last: string | null = ''; last !== null; ) {
    const { rows: ends }: { rows: { last: string | null }[] } = await sql<{ last: string | null }>`
      with part as (select name from unknown_bytes where place = ${place} and name > ${last}
        and removal_approved_at is null and found_at <= ${now[0]!.at}::timestamptz order by name limit ${APPROVED_AT_ONCE}),
      approved as (update unknown_bytes noted set removal_approved_at = now() from part
        where noted.place = ${place} and noted.name = part.name)
      select max(name) as last from part`.execute(db);
    last = ends[0]!.last;
  }
  const { rows } = await sql<{ count: bigint }>`select count(*) from unknown_bytes
    where place = ${place} and removal_approved_at is not null`.execute(db);
  return rows[0]!.count;
}
