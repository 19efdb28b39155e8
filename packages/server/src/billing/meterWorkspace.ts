import { asMicro, type Micro } from '@stagi/contract/money.ts';
import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { accountOf, revenueOf, SPENDABLE } from './accounts.ts';
import { addBalances, allocateCharges, ZERO_AMOUNTS } from './allocateCharges.ts';
import type { ResourceKind } from './billedResource.ts';
import { inLedgerTransaction, post } from './ledger.ts';
import { refundSegment, refundUsageDays } from './refund.ts';
import { SEGMENT_PER_HOUR, segmentCostUntil } from './segmentCost.ts';
import { type AmountsByAccount, type Spending, spendingLines, sumOf } from './spendOrder.ts';
import { REMINDED_AFTER_DAYS } from './zero.ts';

/** What one tick of a workspace did. */
export interface Tick {
  segments: number;
  charged: bigint;
  uncollected: bigint;
  refunded: bigint;
  /** Nothing is left but what it takes to leave in order; it was, or it is so from now on. */
  exhausted: 'no' | 'before' | 'now';
}

/** SQL: the time up to which the segment `s` is metered now. It never moves back, except to an earlier end. */
export const SEGMENT_METERED_UNTIL = sql`least(coalesce(s.ended_at, 'infinity'), greatest(s.metered_until, t.now))`;
/**
 * SQL: what the segment `s` costs from its start until `u.until`. It depends on start, end and price alone, so ticks
 * cannot drift.
 */
export const SEGMENT_COST = sql`case when s.voided then 0
  else ${segmentCostUntil(sql`u.until`)} end`;

/**
 * SQL: whether the segment `s` ended before the time it is charged for, on a server that is neither confirmed nor
 * voided yet. Its refund waits for that decision, as it is booked once and in full.
 */
export const SEGMENT_REFUND_PENDING = sql`((not s.confirmed and not s.voided and s.ended_at < s.metered_until) is true)`;

/**
 * Books what the servers and storages of a workspace cost since the last tick, whenever that was: one journal, and a line for each
 * interval. `null`: somebody else is at it, or at the accounts, right now, or was at it since `seen`.
 */
export function meterWorkspace(db: Db, workspaceId: number, seen: string | null = null): Promise<Tick | null> {
  return inLedgerTransaction(db, async (trx) => {
    const claimed = await claim(trx, workspaceId, seen);
    if (!claimed) return null;
    const lines = await linesOf(trx, workspaceId);
    let { balances } = claimed;
    let refunded = 0n;
    const overcharged = lines.filter(({ due }) => due < 0n);
    if (overcharged.length > 0) await lockPlatformAccounts(trx, workspaceId);
    for (const line of overcharged) {
      const back = await refundSegment(trx, workspaceId, line, asMicro(-line.due));
      balances = addBalances(balances, back.parts);
      refunded += sumOf(back.parts);
      Object.assign(line, { back });
    }
    // Ended before its last charge, but by less than a micro-STAGI: nothing to refund, only the day to correct.
    for (const { id } of lines.filter(({ ends, due }) => ends && due === 0n))
      await refundUsageDays(trx, id, { refunded: 0n, forgiven: 0n });
    const number = claimed.journals + 1n;
    const booked = await book(trx, workspaceId, number, lines, balances);
    await writeDown(trx, workspaceId, lines, booked);
    const left = sumOf(balances) - booked.charged;
    await sql`update workspace_meter set metered_at = metering_clock(),
        journals = ${booked.journalId === null ? claimed.journals : number},
        left_at_zero = greatest(0, least(left_at_zero - ${booked.charged} + ${refunded}, ${left}))
      where client_id = ${workspaceId}`.execute(trx);
    const isUsedUp = left === 0n && booked.charged > claimed.leftAtZero;
    const exhausted = await markExhausted(trx, workspaceId, lines, { left, uncollected: booked.uncollected, isUsedUp });
    return { segments: lines.length, charged: booked.charged, uncollected: booked.uncollected, refunded, exhausted };
  });
}

interface Claimed {
  journals: bigint;
  /** Of the balance, what was there when it counted as used up. */
  leftAtZero: bigint;
  balances: AmountsByAccount;
}

/** The accounts before the segments, as everybody does who needs both. */
async function claim(trx: Db, workspaceId: number, seen: string | null): Promise<Claimed | null> {
  const codes = SPENDABLE.map((kind) => accountOf(workspaceId, kind));
  const { rows } = await sql<{ code: string; balance: Micro; journals: bigint; leftAtZero: bigint }>`
    select a.code, a.balance, m.journals, m.left_at_zero as "leftAtZero" from workspace_meter m join account a on a.code = any(${codes})
    where m.client_id = ${workspaceId} and (${seen}::timestamptz is null or m.metered_at = ${seen}::timestamptz)
    order by a.id for no key update skip locked`.execute(trx);
  if (rows.length < SPENDABLE.length) return null;
  const balances = { ...ZERO_AMOUNTS };
  for (const [n, kind] of SPENDABLE.entries()) balances[kind] = rows.find(({ code }) => code === codes[n])!.balance;
  return { journals: rows[0]!.journals, leftAtZero: rows[0]!.leftAtZero, balances };
}

/** Locks both in the order of a single journal, since several journals follow: avoids a deadlock with other workspaces' ticks. */
async function lockPlatformAccounts(trx: Db, workspaceId: number): Promise<void> {
  await sql`select 1 from account where code in ('writeoff', ${revenueOf(workspaceId)}) order by id for no key update`.execute(
    trx,
  );
}

interface LineRow {
  id: bigint;
  kind: ResourceKind;
  resource_id: number;
  /** As text: a date of JavaScript knows no microseconds. */
  until: string;
  /** Owed beyond what stands to its debit; below zero when it ended before what was metered. */
  due: Micro;
  charged: bigint;
  uncollected: bigint;
  ends: boolean;
  per_hour: bigint;
  reserve: bigint;
}
interface Line extends LineRow {
  back?: { parts: AmountsByAccount; forgiven: bigint };
}

async function linesOf(trx: Db, workspaceId: number): Promise<Line[]> {
  const { rows } = await sql<LineRow>`
    with t as materialized (select metering_clock() as now)
    select s.id, s.kind, s.resource_id, u.until::text as until,
      ${SEGMENT_COST} - (s.charged + s.uncollected - s.refunded - s.forgiven) as due,
      s.charged, s.uncollected, s.ended_at is not null and u.until = s.ended_at as ends,
      case when s.ended_at is null then ${SEGMENT_PER_HOUR} else 0 end as per_hour,
      case when s.ended_at is null then s.reserve else 0 end as reserve
    from t, segment s, lateral (select ${SEGMENT_METERED_UNTIL} as until) u
    where s.client_id = ${workspaceId} and not s.settled and not ${SEGMENT_REFUND_PENDING} order by s.id for no key update of s`.execute(
    trx,
  );
  return rows;
}

interface Booked {
  journalId: bigint | null;
  charges: ReadonlyMap<bigint, Spending>;
  charged: bigint;
  uncollected: bigint;
}

async function book(
  trx: Db,
  workspaceId: number,
  number: bigint,
  lines: readonly Line[],
  balances: AmountsByAccount,
): Promise<Booked> {
  const owing = lines.filter(({ due }) => due > 0n);
  const charges = allocateCharges(
    owing.map(({ due }) => due),
    balances,
  );
  const parts = charges.reduce((all, each) => addBalances(all, each.parts), ZERO_AMOUNTS);
  const uncollected = asMicro(charges.reduce((all, each) => all + each.uncollected, 0n));
  const charged = sumOf(parts);
  const journal = [
    ...spendingLines(workspaceId, parts),
    ...(uncollected > 0n ? [{ account: 'writeoff', amount: asMicro(-uncollected) }] : []),
    { account: revenueOf(workspaceId), amount: asMicro(charged + uncollected) },
  ];
  const journalId =
    journal.length < 2 ? null : await post(trx, 'usage', `usage:${workspaceId}:${number}`, workspaceId, journal);
  return { journalId, charges: new Map(owing.map(({ id }, n) => [id, charges[n]!])), charged, uncollected };
}

async function writeDown(trx: Db, workspaceId: number, lines: readonly Line[], booked: Booked): Promise<void> {
  if (lines.length === 0) return;
  const column = (pick: (line: Line) => unknown): string[] => lines.map((line) => String(pick(line)));
  const partOf = (kind: keyof AmountsByAccount) => column(({ id }) => booked.charges.get(id)?.parts[kind] ?? 0n);
  await sql`
    with line as (
      select * from unnest(${column(({ id }) => id)}::bigint[], ${column(({ kind }) => kind)}::text[], ${column((line) => line.resource_id)}::int[],
        ${column(({ until }) => until)}::timestamptz[],
        ${partOf('credit')}::bigint[], ${partOf('card')}::bigint[], ${partOf('onchain')}::bigint[],
        ${column(({ id }) => booked.charges.get(id)?.uncollected ?? 0n)}::bigint[],
        ${column(({ back }) => (back ? sumOf(back.parts) : 0n))}::bigint[],
        ${column(({ back }) => back?.forgiven ?? 0n)}::bigint[], ${column(({ ends }) => ends)}::boolean[])
        as line (id, kind, resource_id, until, credit, card, onchain, uncollected, refunded, forgiven, ends)
    ), stored as (
      update segment s set metered_until = line.until, charged = s.charged + line.credit + line.card + line.onchain,
        uncollected = s.uncollected + line.uncollected, refunded = s.refunded + line.refunded,
        forgiven = s.forgiven + line.forgiven, settled = line.ends
      from line where s.id = line.id
      returning s.id, s.charged, s.uncollected
    ), charged as (
      insert into segment_charge (segment_id, until, journal_id, credit, card, onchain, uncollected,
        charged_total, uncollected_total)
      select line.id, line.until, ${booked.journalId}::bigint, line.credit, line.card, line.onchain, line.uncollected,
        stored.charged, stored.uncollected
      from line join stored on stored.id = line.id
      where line.credit + line.card + line.onchain + line.uncollected > 0
    )
    insert into usage_day as d (client_id, day, kind, resource_id, charged, uncollected, last_at)
    select ${workspaceId}::int, (until at time zone 'UTC')::date, kind, resource_id, sum(credit + card + onchain),
      sum(uncollected), max(until)
    from line where credit + card + onchain + uncollected > 0 group by 2, 3, 4
    on conflict (client_id, day, kind, resource_id) do update set charged = d.charged + excluded.charged,
      uncollected = d.uncollected + excluded.uncollected, last_at = greatest(d.last_at, excluded.last_at)`.execute(trx);
}

/**
 * Stores that the balance is exhausted, in the transaction of the charge that took the last of it. Skips a workspace row
 * that is locked: its holder may want the servers that this transaction locks, and the next tick is seconds away.
 */
async function markExhausted(
  trx: Db,
  workspaceId: number,
  lines: readonly Line[],
  { left, uncollected, isUsedUp }: { left: bigint; uncollected: bigint; isUsedUp: boolean },
): Promise<Tick['exhausted']> {
  const burn = lines.reduce((all, line) => all + line.per_hour, 0n);
  const reserve = lines.reduce((all, line) => all + line.reserve, 0n);
  if (left > reserve || (burn === 0n && uncollected === 0n)) return 'no';
  const { rows } = await sql<{ before: boolean }>`select exhausted_at is not null as before from workspace
    where id = ${workspaceId} for no key update skip locked`.execute(trx);
  if (!rows[0]) return 'no';
  if (!rows[0].before) {
    await sql`update workspace set exhausted_at = metering_clock() where id = ${workspaceId}`.execute(trx);
    await sql`update workspace_meter set left_at_zero = ${left} where client_id = ${workspaceId}`.execute(trx);
    return 'now';
  }
  if (isUsedUp) await restartRetention(trx, workspaceId);
  return 'before';
}

/** Restarts the retention period when a credit that came after a reminder (or prevented one) is used up. */
async function restartRetention(trx: Db, workspaceId: number): Promise<void> {
  await sql`with told as (
      update workspace_meter m set notices = 0 from workspace w where m.client_id = ${workspaceId} and w.id = m.client_id
        and (m.notices > 1 or w.exhausted_at <= metering_clock() - make_interval(days => ${REMINDED_AFTER_DAYS}))
      returning m.client_id
    ) update workspace set exhausted_at = metering_clock() from told where id = told.client_id`.execute(trx);
}
