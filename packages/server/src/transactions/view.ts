import { CURRENCY } from '@stagi/contract/brand.ts';
import { toDecimal } from '@stagi/contract/money.ts';
import type { ChargedSegment, Transaction } from '@stagi/contract/transactions.ts';
import { sql } from 'kysely';
import type { ResourceRow } from '../billing/billedResource.ts';
import { SEGMENT_PER_HOUR } from '../billing/segmentCost.ts';
import type { Db } from '../db/schema.ts';
import { notFound } from '../http/errors.ts';
import { isId } from '../http/paging.ts';
import { present, TRANSACTION_COLUMNS, TRANSACTION_SOURCE, type TransactionRow } from './present.ts';

/** One transaction of a workspace; of use with what each interval was charged on that day. */
export async function viewTransaction(
  db: Db,
  workspaceId: number,
  id: number,
): Promise<{ entity: Transaction; segments: ChargedSegment[] }> {
  const { rows } =
    await sql<TransactionRow>`select ${TRANSACTION_COLUMNS} from billing_transaction t ${TRANSACTION_SOURCE}
    where t.workspace_id = ${workspaceId} and ${isId('t.id', id)}`.execute(db);
  const row = rows[0];
  if (!row) throw notFound();
  const segments =
    row.day === null || row.resource_kind === null ? [] : await segmentsOf(db, workspaceId, row, row.day);
  return { entity: present(row), segments };
}

interface SegmentRow {
  id: bigint;
  from: Date;
  to: Date;
  micros: bigint;
  per_hour: bigint;
  price: bigint;
  price_hours: number;
  amount: bigint;
}

/** A charge is of the day in which the time it is for ends, and begins where the one before it ended. */
async function segmentsOf(db: Db, workspaceId: number, resource: ResourceRow, day: string): Promise<ChargedSegment[]> {
  const { rows } = await sql<SegmentRow>`
    select s.id, b.begun as "from", c.until as "to",
      (extract(epoch from c.until - b.begun) * 1000000)::bigint as micros, ${SEGMENT_PER_HOUR} as per_hour, s.price, s.price_hours, c.amount
    from segment s, lateral (
      select max(until) as until, min(until) as first, sum(credit + card + onchain)::bigint as amount from segment_charge
      where segment_id = s.id and until >= ${day}::date::timestamp at time zone 'UTC'
        and until < (${day}::date + 1)::timestamp at time zone 'UTC'
    ) c, lateral (
      select coalesce((select max(until) from segment_charge where segment_id = s.id and until < c.first), s.started_at) as begun
    ) b
    where s.client_id = ${workspaceId} and s.kind = ${resource.resource_kind} and s.resource_id = ${resource.resource_id} and c.until is not null
    order by s.started_at, s.id`.execute(db);
  return rows.map((row) => ({
    id: Number(row.id),
    from: row.from.toISOString(),
    to: row.to.toISOString(),
    seconds: Number(row.micros) / 1e6,
    pricePerHour: { currency: CURRENCY, decimalValue: toDecimal(row.per_hour) },
    price: { currency: CURRENCY, decimalValue: toDecimal(row.price) },
    priceHours: row.price_hours,
    amount: { currency: CURRENCY, decimalValue: toDecimal(row.amount) },
  }));
}
