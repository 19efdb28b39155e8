import { type Micro, toDecimal } from '@stagi/contract/money.ts';
import type { Transaction, TransactionType } from '@stagi/contract/transactions.ts';
import { sql } from 'kysely';
import {
  joinBilledResource,
  type NoResource,
  presentResource,
  RESOURCE_NAMES,
  type ResourceRow,
} from '../billing/billedResource.ts';

interface Booking {
  id: bigint;
  type: TransactionType;
  kind: string;
  at: Date;
  currency: string;
  amount: Micro;
  day: string | null;
  from_address: string | null;
  to_address: string | null;
  network: string | null;
  /** An operator's, of a grant. */
  reason: string | null;
}

export type TransactionRow = Booking & (ResourceRow | NoResource);

/** SQL: the columns of a `TransactionRow`, from `TRANSACTION_SOURCE`. */
export const TRANSACTION_COLUMNS = sql`t.id, t.type, t.kind, t.at, t.currency, coalesce(-u.charged, t.amount) as amount,
  t.day::text as day, t.from_address, t.to_address, t.network, granted.meta ->> 'reason' as reason, r.kind as resource_kind, r.id as resource_id, ${sql.raw(RESOURCE_NAMES)}`;

/** SQL: what belongs to `billing_transaction t`: the sums of its day where it is use, the reason of a grant, the server or storage that it is about. */
export const TRANSACTION_SOURCE = sql`left join usage_day u on u.client_id = t.workspace_id and u.day = t.day
    and u.kind = t.resource_kind and u.resource_id = t.resource_id
  left join journal granted on granted.id = t.journal_id and t.kind = 'grant'
  left join segment_refund back on back.journal_id = t.journal_id left join segment s on s.id = back.segment_id
  cross join lateral (select coalesce(t.resource_kind, s.kind) as kind, coalesce(t.resource_id, s.resource_id) as id) r
  ${sql.raw(joinBilledResource('r.kind', 'r.id'))}`;

export function present(row: TransactionRow): Transaction {
  return {
    id: Number(row.id),
    type: row.type,
    kind: row.kind,
    createdAt: row.at.toISOString(),
    amount: { currency: row.currency, decimalValue: toDecimal(row.amount) },
    addresses: { from: row.from_address, to: row.to_address },
    network: row.network,
    reason: row.reason,
    resource: row.resource_kind === null ? null : presentResource(row),
    day: row.day,
  };
}
