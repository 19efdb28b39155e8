import { asMicro, type Micro } from '@stagi/contract/money.ts';
import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { accountOf, revenueOf, SPENDABLE } from './accounts.ts';
import { ZERO_AMOUNTS } from './allocateCharges.ts';
import { post } from './ledger.ts';
import { type AmountsByAccount, sumOf } from './spendOrder.ts';

/** SQL: the actual end of a segment `s`; a voided one ends where it started. */
export const ACTUAL_END = sql`case when s.voided then s.started_at else s.ended_at end`;

/**
 * Refunds what one segment was overcharged: uncollected amounts are forgiven first, then the newest charges are refunded,
 * each to the account that paid it, so that credit never becomes money. At most once for a segment.
 */
export async function refundSegment(
  trx: Db,
  workspaceId: number,
  /** `until`: its actual end. */
  { id: segmentId, until }: { id: bigint; until: string },
  amount: Micro,
): Promise<{ parts: AmountsByAccount; forgiven: Micro }> {
  const { rows } = await sql<AmountsByAccount & { uncollected: bigint }>`
    select credit, card, onchain, uncollected from segment_charge where segment_id = ${segmentId} order by until desc`.execute(
    trx,
  );
  const { parts, forgiven } = refundParts(rows, amount);
  const lines = [
    ...SPENDABLE.map((kind) => ({ account: accountOf(workspaceId, kind), amount: parts[kind] })),
    { account: 'writeoff', amount: forgiven },
    { account: revenueOf(workspaceId), amount: asMicro(-amount) },
  ].filter((line) => line.amount !== 0n);
  const journalId = await post(trx, 'refund', `refund:${segmentId}`, workspaceId, lines);
  await sql`insert into segment_refund (segment_id, at, journal_id, credit, card, onchain, forgiven)
    values (${segmentId}, ${until}::timestamptz, ${journalId}, ${parts.credit}, ${parts.card}, ${parts.onchain}, ${forgiven})`.execute(
    trx,
  );
  await refundUsageDays(trx, segmentId, { refunded: sumOf(parts), forgiven });
  return { parts, forgiven };
}

/**
 * Books a refund on the days of usage: charges for days after the actual end are refunded on those days, the rest on the
 * day of the actual end. So no day becomes negative. A segment that cost the same until its actual end has nothing
 * refunded, but its charges move to that day.
 */
export async function refundUsageDays(
  trx: Db,
  segmentId: bigint,
  { refunded, forgiven }: { refunded: bigint; forgiven: bigint },
): Promise<void> {
  await sql`
    with truth as (
      select client_id, kind, resource_id, ${ACTUAL_END} as at, (${ACTUAL_END} at time zone 'UTC')::date as day
      from segment s where s.id = ${segmentId}
    ), late as (
      select (c.until at time zone 'UTC')::date as day, max(c.until) as at, sum(c.credit + c.card + c.onchain) as paid,
        sum(c.uncollected) as unpaid
      from segment_charge c, truth
      where c.segment_id = ${segmentId} and (c.until at time zone 'UTC')::date > truth.day group by 1
    )
    insert into usage_day as d (client_id, day, kind, resource_id, refunded, forgiven, last_at)
    select client_id, late.day, kind, resource_id, paid, unpaid, late.at from late, truth
    union all
    select client_id, day, kind, resource_id, rest.refunded, rest.forgiven, at from truth, (
      select ${refunded}::bigint - coalesce(sum(paid), 0) as refunded, ${forgiven}::bigint - coalesce(sum(unpaid), 0) as forgiven
      from late
    ) rest where rest.refunded <> 0 or rest.forgiven <> 0
    on conflict (client_id, day, kind, resource_id) do update set refunded = d.refunded + excluded.refunded,
      forgiven = d.forgiven + excluded.forgiven`.execute(trx);
}

/** Of charges with the newest first. */
export function refundParts(
  charges: readonly (AmountsByAccount & { uncollected: bigint })[],
  amount: Micro,
): { parts: AmountsByAccount; forgiven: Micro } {
  const owedNot = charges.reduce((all, { uncollected }) => all + uncollected, 0n);
  const forgiven = asMicro(least(amount, owedNot));
  const parts = { ...ZERO_AMOUNTS };
  let left: bigint = amount - forgiven;
  for (const charge of charges) {
    for (const kind of SPENDABLE.toReversed()) {
      const part = least(left, charge[kind]);
      parts[kind] = asMicro(parts[kind] + part);
      left -= part;
    }
  }
  if (left > 0n) throw new Error(`${left} more than was charged would be given back`);
  return { parts, forgiven };
}

function least(a: bigint, b: bigint): bigint {
  if (a < b) return a;
  return b;
}
