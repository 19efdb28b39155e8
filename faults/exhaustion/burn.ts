import { asMicro } from '@stagi/contract/money.ts';
import { accountOf } from '@stagi/server/src/billing/accounts.ts';
import { post } from '@stagi/server/src/billing/ledger.ts';
import { lockAvailableBalance } from '@stagi/server/src/billing/spendOrder.ts';
import { inTransaction } from '@stagi/server/src/db/pool.ts';
import type { Db } from '@stagi/server/src/db/schema.ts';
import { sql } from 'kysely';
import { type Interval, MONTH_US, type Opening, owedUntil, perMonthOf } from './arithmetic.ts';

/**
 * Spends the balance of a workspace, as a plan would, except for some seconds of what runs and the reserve of what
 * cannot be stopped. Returns the balance from then on.
 */
export function leaveSeconds(db: Db, workspaceId: number, seconds: number, key: string): Promise<Opening> {
  return inTransaction(db, async (trx) => {
    const available = await lockAvailableBalance(trx, workspaceId);
    const { intervals, booked, nowUs } = await intervalsOf(trx, workspaceId);
    const running = intervals.filter(({ endUs }) => endUs === null);
    const perMonth = running.reduce((sum, interval) => sum + perMonthOf(interval), 0n);
    const reserve = running.reduce((sum, interval) => sum + interval.reserve, 0n);
    const owing = intervals.reduce((sum, interval) => sum + owedUntil(interval, nowUs), 0n) - booked;
    const balance = owing + reserve + (perMonth * BigInt(Math.round(seconds * 1_000_000))) / MONTH_US;
    if (balance >= available) throw new Error(`workspace ${workspaceId} has ${available}, less than ${balance}`);
    const spent = asMicro(available - balance);
    await post(trx, 'plan', key, workspaceId, [
      { account: accountOf(workspaceId, 'credit'), amount: asMicro(-spent) },
      { account: 'revenue:plan', amount: spent },
    ]);
    return { atUs: nowUs, balance, booked };
  });
}

/** Credits several hours of everything that a workspace has: enough to start again whatever was stopped. */
export function creditHours(db: Db, workspaceId: number, key: string): Promise<void> {
  return inTransaction(db, async (trx) => {
    const { rows } = await sql<{ price: bigint }>`select sum(price_per_hour)::bigint as price from instance
      where workspace_id = ${workspaceId} and closed_at is null`.execute(trx);
    const amount = asMicro(rows[0]!.price * 3n);
    await post(trx, 'promo', key, workspaceId, [
      { account: 'promo', amount: asMicro(-amount) },
      { account: accountOf(workspaceId, 'credit'), amount },
    ]);
  });
}

/** All intervals of a workspace, the amount booked for them, and the time of this reading. */
export async function intervalsOf(
  db: Db,
  workspaceId: number,
): Promise<{ intervals: Interval[]; booked: bigint; nowUs: bigint }> {
  const { rows } = await sql<Interval & { nowUs: bigint }>`
    with t as materialized (select metering_clock() as now)
    select resource_id as "resourceId", rate, price, price_hours as "priceHours", reserve,
      (extract(epoch from started_at) * 1000000)::bigint as "startUs",
      (extract(epoch from ended_at) * 1000000)::bigint as "endUs",
      charged + uncollected - refunded - forgiven as booked, (extract(epoch from t.now) * 1000000)::bigint as "nowUs"
    from t, segment where client_id = ${workspaceId} and not voided order by id`.execute(db);
  return {
    intervals: rows,
    booked: rows.reduce((sum, row) => sum + row.booked, 0n),
    nowUs: rows[0]?.nowUs ?? 0n,
  };
}
