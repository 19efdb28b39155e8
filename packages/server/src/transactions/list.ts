import type { EntityFilterRequest } from '@stagi/contract/page.ts';
import type { TransactionType } from '@stagi/contract/transactions.ts';
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { offsetOf, sortColumn } from '../http/paging.ts';
import { present, TRANSACTION_COLUMNS, TRANSACTION_SOURCE, type TransactionRow } from './present.ts';

export interface TransactionFilter {
  types?: readonly TransactionType[];
  /** Both are included. */
  from?: string;
  to?: string;
}

const DAY_MS = 86_400_000;

/**
 * One page and how many there are. Nobody counts a million rows for it, and nobody reads up to the page: how many rows
 * each day has is kept, so that a page is read from the day that it begins in.
 */
export async function pageOfTransactions(
  db: Db,
  workspaceId: number,
  narrowed: TransactionFilter,
  request: EntityFilterRequest,
): Promise<{ entities: ReturnType<typeof present>[]; count: number }> {
  sortColumn(request, { createdAt: 'at' });
  const days = await rowsByDay(db, workspaceId, narrowed);
  const count = days.reduce((sum, { n }) => sum + n, 0);
  const descending = request.orderByDirection === 'desc';
  const start = pageStart(descending ? days.toReversed() : days, offsetOf(request));
  if (!start) return { entities: [], count };
  const first = new Date(start.day).getTime();
  const rows = await rowsFrom(db, workspaceId, narrowed, {
    bound: descending ? sql`at < ${new Date(first + DAY_MS)}` : sql`at >= ${new Date(first)}`,
    direction: descending ? sql`desc` : sql`asc`,
    offset: start.within,
    limit: request.limit,
  });
  return { entities: rows.map(present), count };
}

interface Day {
  day: string;
  n: number;
}

/** Oldest first. Of the days at the ends of a stretch of time only what is in it counts. */
async function rowsByDay(db: Db, workspaceId: number, { types, from, to }: TransactionFilter): Promise<Day[]> {
  const ofTypes = types?.length ? sql`and type = any(${types}::text[])` : sql``;
  const [first, last] = [dayOf(from), dayOf(to)];
  const edges = [...new Set([first, last].filter((day) => day !== undefined))];
  const { rows } = await sql<Day>`
    select day::text, sum(n)::int as n from billing_transaction_count
    where workspace_id = ${workspaceId} ${ofTypes} and day <> all(${edges}::date[])
      and day >= ${first ?? '-infinity'}::date and day <= ${last ?? 'infinity'}::date
    group by 1
    union all
    select edge::text, (select count(*)::int from billing_transaction
      where workspace_id = ${workspaceId} ${ofTypes} ${within(from, to)}
        and at >= edge::timestamp at time zone 'UTC' and at < (edge + 1)::timestamp at time zone 'UTC')
    from unnest(${edges}::date[]) as edge
    order by 1`.execute(db);
  return rows;
}

/** The day in which so many rows are behind, and how many of its own are. */
function pageStart(days: readonly Day[], offset: number): { day: string; within: number } | null {
  let before = 0;
  for (const { day, n } of days) {
    if (before + n > offset) return { day, within: offset - before };
    before += n;
  }
  return null;
}

interface Cut {
  bound: RawBuilder<unknown>;
  direction: RawBuilder<unknown>;
  offset: number;
  limit: number;
}

/** Of each type what its index has next, then the first of all those. */
async function rowsFrom(
  db: Db,
  workspaceId: number,
  { types, from, to }: TransactionFilter,
  { bound, direction, offset, limit }: Cut,
): Promise<TransactionRow[]> {
  const order = sql`order by at ${direction}, id ${direction}`;
  const branch = (ofType: RawBuilder<unknown>): RawBuilder<unknown> => sql`(select id, at from billing_transaction
    where workspace_id = ${workspaceId} ${ofType} ${within(from, to)} and ${bound} ${order} limit ${offset + limit})`;
  const branches = types?.length ? [...new Set(types)].map((type) => branch(sql`and type = ${type}`)) : [branch(sql``)];
  const { rows } = await sql<TransactionRow>`
    select ${TRANSACTION_COLUMNS} from (
      select id, at from (${sql.join(branches, sql` union all `)}) as found ${order} offset ${offset} limit ${limit}
    ) as page join billing_transaction t on t.id = page.id ${TRANSACTION_SOURCE}
    order by page.at ${direction}, page.id ${direction}`.execute(db);
  return rows;
}

function within(from?: string, to?: string): RawBuilder<unknown> {
  return sql`${from ? sql`and at >= ${new Date(from)}` : sql``} ${to ? sql`and at <= ${new Date(to)}` : sql``}`;
}

const dayOf = (at: string | undefined): string | undefined => at && new Date(at).toISOString().slice(0, 10);
