import { HOURS_PER_MONTH } from '@stagi/contract/storageRules.ts';
import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';

interface Row {
  client_id: number;
  /** Micro-STAGI for `HOURS_PER_MONTH` hours; 0: nothing is billed. */
  price: string;
  segment_price: string | null;
}

/**
 * Brings the segment of a storage in line with its row, in the transaction that changed the row. It is open while the
 * storage is rented; another size ends one segment and begins the next at the same moment. Books nothing: the next tick
 * settles what has ended. Log buckets are free.
 */
export async function syncStorageSegment(trx: Db, storageId: number): Promise<void> {
  const { rows } = await sql<Row>`
    select d.workspace_id as client_id, s.price::text as segment_price,
      case when d.kind = 'storage' and d.status = 'rented' and d.closed_at is null then d.price_per_month else 0 end::text as price
    from storage d left join segment s on s.kind = 'storage' and s.resource_id = d.id and s.ended_at is null
    where d.id = ${storageId}`.execute(trx);
  const row = rows[0];
  if (!row) return;
  const wanted = row.price === '0' ? null : row.price;
  if (wanted === row.segment_price) return;
  if (row.segment_price !== null) await close(trx, storageId);
  if (wanted !== null)
    await open(trx, storageId, row.client_id, { price: wanted, follows: row.segment_price !== null });
}

/** Never before what was charged for, even when the clock has gone back since. */
async function close(trx: Db, storageId: number): Promise<void> {
  await sql`update segment set ended_at = greatest(started_at, metered_until, metering_clock())
    where kind = 'storage' and resource_id = ${storageId} and ended_at is null`.execute(trx);
}

/** Where the one before ended, if that was now. */
async function open(
  trx: Db,
  storageId: number,
  clientId: number,
  { price, follows }: { price: string; follows: boolean },
): Promise<void> {
  await sql`
    insert into segment (client_id, kind, resource_id, rate, price, price_hours, started_at, metered_until, confirmed)
    select ${clientId}, 'storage', ${storageId}, 'size', ${price}::bigint, ${HOURS_PER_MONTH}, start.at, start.at, true
    from (select greatest(case when ${follows} then '-infinity' else metering_clock() end,
      coalesce((select max(ended_at) from segment where kind = 'storage' and resource_id = ${storageId}), '-infinity')) as at) as start`.execute(
    trx,
  );
  await sql`insert into workspace_meter (client_id, metered_at) values (${clientId}, metering_clock())
    on conflict do nothing`.execute(trx);
}
