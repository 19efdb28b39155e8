import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';

export interface Page {
  /** Of the last journal in it. */
  last: bigint;
  journals: number;
  postings: number;
  /** SHA-256 of the digest before it and of every journal in it. */
  digest: Buffer;
  /** What does not fit, by the number of its journal. */
  findings: { id: string; problem: string }[];
  /** What the lines in it add up to, by account. */
  sums: Record<string, string>;
  /** Of these, what journals of use booked as use, and as use that nobody pays for. */
  use: { booked: string; unpaid: string };
}

/** So many at a time stay well within the five seconds of a statement. */
const JOURNALS_AT_ONCE = 10_000;
const FINDINGS_AT_ONCE = 100;

/** Journals that were booked for intervals. */
export const OF_USE = ['usage', 'refund'];

/**
 * Reads the journals behind `after`, up to `upto`, and holds each against its own hash, its lines and their balance. The
 * same journals make the same pages, whoever reads them.
 */
export async function readPage(db: Db, after: bigint, upto: bigint, before: Buffer): Promise<Page> {
  const { rows } = await sql<Page>`
    with page as materialized (
      select j, journal_hash(j) as hash from journal j where j.id > ${after} and j.id <= ${upto} order by j.id limit ${JOURNALS_AT_ONCE}
    ), ends as materialized (
      select case when count(*) < ${JOURNALS_AT_ONCE} then ${upto}::bigint else max((j).id) end as last, count(*)::int as n
      from page
    ), lines as materialized (
      select p.journal_id, p.line, p.account_id, p.amount, a.code, a.class, a.currency
      from posting p join account a on a.id = p.account_id
      where p.journal_id > ${after} and p.journal_id <= (select last from ends)
    ), made as materialized (
      select journal_id, count(*) as n,
        sha256(convert_to(string_agg(code || ':' || amount || E'\\n', '' order by line), 'UTF8')) as hash
      from lines group by 1
    ), held as materialized (
      select (j).id, page.hash, case
        when page.hash <> (j).hash then 'it is not what it was when it was booked'
        when made.n is distinct from (j).line_count or made.hash <> (j).lines_hash then 'its lines are not those it was booked with'
        end as problem
      from page left join made on made.journal_id = (j).id
    ), found as (
      select id, problem from held where problem is not null
      union all
      select journal_id, 'it does not balance' from lines group by journal_id, currency having sum(amount) <> 0
      union all
      select distinct journal_id, 'it is missing, and has lines' from lines
      where not exists (select 1 from held where held.id = lines.journal_id)
    )
    select ends.last, ends.n as journals, (select count(*)::int from lines) as postings,
      sha256(${before}::bytea || coalesce((select string_agg(hash, ''::bytea order by id) from held), ''::bytea)) as digest,
      (select coalesce(jsonb_agg(jsonb_build_object('id', id::text, 'problem', problem) order by id), '[]')
        from (select * from found order by id limit ${FINDINGS_AT_ONCE}) as first) as findings,
      (select coalesce(jsonb_object_agg(account_id, amount), '{}')
        from (select account_id, sum(amount)::text as amount from lines group by 1) as totals) as sums,
      (select jsonb_build_object(
          'booked', coalesce(sum(amount) filter (where class = 'revenue:usage'), 0)::text,
          'unpaid', coalesce(-sum(amount) filter (where class = 'writeoff'), 0)::text)
        from lines join page on (page.j).id = lines.journal_id where (page.j).kind = any(${OF_USE}::text[])) as use
    from ends`.execute(db);
  return rows[0]!;
}
