import { sql } from 'kysely';
import { segmentCostUntil } from '../billing/segmentCost.ts';
import type { Db } from '../db/schema.ts';
import { OF_USE } from './digest.ts';
import type { Report } from './report.ts';

/** Each may stand for hundreds of charges: a page stays well within the time of a statement. */
const JOURNALS_AT_ONCE = 500;
const CHARGES_AT_ONCE = 50_000;
const SEGMENTS_AT_ONCE = 5_000;

/** Micro-units that journals of use booked to the accounts of use, and took from `writeoff`, less what they gave back. */
export interface BookedUse {
  booked: bigint;
  unpaid: bigint;
}

/**
 * What intervals were charged, less what was given back and forgiven of it, is what the journals of use booked: each one
 * from the same accounts, and all together; and it is what their time costs.
 */
export async function checkUsage(db: Db, report: Report, booked: BookedUse): Promise<void> {
  await checkJournalsOfUse(db, report);
  await checkCharges(db, report);
  await checkRefunds(db, report);
  const owed = await checkSegments(db, report);
  if (owed.booked !== booked.booked)
    report.found('account', 'revenue:usage', `${booked.booked} were booked, the intervals say ${owed.booked}`);
  if (owed.unpaid !== booked.unpaid)
    report.found('account', 'writeoff', `${booked.unpaid} were written off, the intervals say ${owed.unpaid}`);
}

async function checkJournalsOfUse(db: Db, report: Report): Promise<void> {
  let after = 0n;
  for (;;) {
    const { rows } = await sql<{ last: bigint | null; n: number; odd: string[] }>`
      with page as materialized (
        select id, kind from journal where kind = any(${OF_USE}::text[]) and id > ${after} order by id limit ${JOURNALS_AT_ONCE}
      ), booked as (
        select p.journal_id as id, coalesce(-sum(p.amount) filter (where a.class = 'credit'), 0) as credit,
          coalesce(-sum(p.amount) filter (where a.class = 'card'), 0) as card,
          coalesce(-sum(p.amount) filter (where a.class = 'onchain'), 0) as onchain,
          coalesce(-sum(p.amount) filter (where a.class = 'writeoff'), 0) as uncollected
        from page join posting p on p.journal_id = page.id join account a on a.id = p.account_id group by 1
      ), told as (
        select journal_id as id, sum(credit) as credit, sum(card) as card, sum(onchain) as onchain, sum(uncollected) as uncollected
        from page join segment_charge c on c.journal_id = page.id where page.kind = 'usage' group by 1
        union all
        select journal_id, -credit, -card, -onchain, -forgiven from page join segment_refund r on r.journal_id = page.id
        where page.kind = 'refund'
      )
      select (select max(id) from page) as last, (select count(*)::int from page) as n,
        coalesce(array_agg(page.id::text order by page.id) filter (where
          (booked.credit, booked.card, booked.onchain, booked.uncollected)
            is distinct from (told.credit, told.card, told.onchain, told.uncollected)), '{}') as odd
      from page left join booked using (id) left join told using (id)`.execute(db);
    const { last, n, odd } = rows[0]!;
    for (const id of odd) report.found('journal', id, 'the intervals that it was booked for say otherwise');
    if (last === null || n < JOURNALS_AT_ONCE) return;
    after = last;
  }
}

/** Each charge goes on where the one before it stood, and belongs to a journal of use. */
async function checkCharges(db: Db, report: Report): Promise<void> {
  let after = { segment: 0n, until: '-infinity' };
  for (;;) {
    const { rows } = await sql<{ segment: bigint; until: string; odd: boolean }>`
      with page as materialized (
        select * from segment_charge where (segment_id, until) > (${after.segment}, ${after.until}::timestamptz)
        order by segment_id, until limit ${CHARGES_AT_ONCE}
      ), held as (
        select c.*, row_number() over w as place, count(*) over () as n,
          coalesce(lag(c.charged_total) over w, before.charged_total, 0) + c.credit + c.card + c.onchain <> c.charged_total
            or coalesce(lag(c.uncollected_total) over w, before.uncollected_total, 0) + c.uncollected <> c.uncollected_total
            or j.kind <> 'usage' or j.client_id is distinct from s.client_id as odd
        from page c join journal j on j.id = c.journal_id join segment s on s.id = c.segment_id
          left join lateral (select charged_total, uncollected_total from segment_charge b
            where b.segment_id = c.segment_id and b.until < c.until and c.segment_id = ${after.segment}
            order by until desc limit 1) before on true
        window w as (partition by c.segment_id order by c.until)
      )
      select segment_id as segment, until::text as until, odd from held
      where odd or (segment_id, until) = (select segment_id, until from page order by segment_id desc, until desc limit 1)
      order by segment_id, until`.execute(db);
    for (const { segment, until, odd } of rows)
      if (odd) report.found('segment_charge', `${segment} until ${until}`, 'it does not go on from the one before it');
    const { rows: count } = await sql<{ n: number }>`select count(*)::int as n from (
      select 1 from segment_charge where (segment_id, until) > (${after.segment}, ${after.until}::timestamptz)
      limit ${CHARGES_AT_ONCE}) as page`.execute(db);
    report.count('charges', count[0]!.n);
    const last = rows.at(-1);
    if (!last || count[0]!.n < CHARGES_AT_ONCE) return;
    after = last;
  }
}

/** What was given back of an interval belongs to a journal that gives back, of the same workspace. */
async function checkRefunds(db: Db, report: Report): Promise<void> {
  let after = 0n;
  for (;;) {
    const { rows } = await sql<{ segment: bigint; odd: boolean }>`
      select r.segment_id as segment, j.kind <> 'refund' or j.client_id is distinct from s.client_id as odd
      from (select * from segment_refund where segment_id > ${after} order by segment_id limit ${SEGMENTS_AT_ONCE}) r
        join journal j on j.id = r.journal_id join segment s on s.id = r.segment_id
      order by r.segment_id`.execute(db);
    for (const { segment, odd } of rows)
      if (odd) report.found('segment_refund', String(segment), 'its journal did not give it back');
    report.count('refunds', rows.length);
    const last = rows.at(-1);
    if (!last || rows.length < SEGMENTS_AT_ONCE) return;
    after = last.segment;
  }
}

/** An interval stands where its last charge left it, and has cost what its time costs, to the unit. Answers their sums. */
async function checkSegments(db: Db, report: Report): Promise<BookedUse> {
  const owed: BookedUse = { booked: 0n, unpaid: 0n };
  let after = 0n;
  for (;;) {
    const { rows } = await sql<{ id: bigint; booked: bigint; unpaid: bigint; problem: string | null }>`
      select s.id, s.charged + s.uncollected - s.refunded - s.forgiven as booked, s.uncollected - s.forgiven as unpaid,
        case
        when s.charged <> coalesce(c.charged_total, 0) or s.uncollected <> coalesce(c.uncollected_total, 0)
          then 'its charges add up to something else'
        when s.refunded <> coalesce(r.credit + r.card + r.onchain, 0) or s.forgiven <> coalesce(r.forgiven, 0)
          then 'what was given back of it is something else'
        when not s.voided and s.charged + s.uncollected - s.refunded - s.forgiven
          <> ${segmentCostUntil(sql`s.metered_until`)}
          then 'it was not charged what its time costs'
        when s.voided and s.settled and s.charged + s.uncollected <> s.refunded + s.forgiven then 'it was not given back'
        when s.settled and not s.voided and s.metered_until <> s.ended_at then 'it was settled at another time than its end'
        end as problem
      from segment s
        left join lateral (select charged_total, uncollected_total from segment_charge
          where segment_id = s.id order by until desc limit 1) c on true
        left join segment_refund r on r.segment_id = s.id
      where s.id > ${after} order by s.id limit ${SEGMENTS_AT_ONCE}`.execute(db);
    for (const { id, booked, unpaid, problem } of rows) {
      if (problem) report.found('segment', String(id), problem);
      owed.booked += booked;
      owed.unpaid += unpaid;
    }
    report.count('segments', rows.length);
    const last = rows.at(-1);
    if (!last || rows.length < SEGMENTS_AT_ONCE) return owed;
    after = last.id;
  }
}
