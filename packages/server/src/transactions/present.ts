import { type Micro, toDecimal } from '@stagi/contract/money.ts';
import type { Transaction, TransactionType } from '@stagi/contract/transactions.ts';
import { sql } from 'kysely';

export interface TransactionRow {
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
  instance_id: number | null;
  slug: string | null;
  title: string | null;
  instance_kind: string | null;
}

/** SQL: the columns of a `TransactionRow`, from `TRANSACTION_SOURCE`. */
export const TRANSACTION_COLUMNS = sql`t.id, t.type, t.kind, t.at, t.currency, coalesce(-u.charged, t.amount) as amount,
  t.day::text as day, t.from_address, t.to_address, t.network, i.id as instance_id, i.slug, i.title, i.kind as instance_kind`;

/** SQL: what belongs to `billing_transaction t`: the sums of its day where it is use, the server that it is about. */
export const TRANSACTION_SOURCE = sql`left join usage_day u on u.client_id = t.workspace_id and u.day = t.day and u.instance_id = t.instance_id
  left join segment_refund r on r.journal_id = t.journal_id left join segment s on s.id = r.segment_id
  left join instance i on i.id = coalesce(t.instance_id, s.instance_id)`;

export function present(row: TransactionRow): Transaction {
  const { instance_id: id, slug, title, instance_kind: kind } = row;
  return {
    id: Number(row.id),
    type: row.type,
    kind: row.kind,
    createdAt: row.at.toISOString(),
    amount: { currency: row.currency, decimalValue: toDecimal(row.amount) },
    addresses: { from: row.from_address, to: row.to_address },
    network: row.network,
    instance: id === null ? null : { id, slug: slug ?? '', title: title ?? '', kind: kind ?? '' },
    day: row.day,
  };
}
