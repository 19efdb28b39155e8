import type { EntityFilterRequest } from '@stagi/contract/page.ts';
import { type RawBuilder, sql } from 'kysely';
import {
  joinBilledResource,
  RESOURCE_NAME_COLUMNS,
  RESOURCE_NAMES,
  type ResourceRow,
} from '../billing/billedResource.ts';
import { ACTUAL_END } from '../billing/refund.ts';
import { SEGMENT_PER_HOUR, segmentCostUntil } from '../billing/segmentCost.ts';
import type { Db } from '../db/schema.ts';
import { contains, offsetOf, sortColumn } from '../http/paging.ts';

export interface Range {
  from?: string;
  to?: string;
  /** Part of the name or Unique ID of a server or storage. */
  queryString?: string;
}

export interface IntervalRow extends ResourceRow {
  id: bigint;
  rate: 'running' | 'stopped' | 'size';
  start: Date;
  stop: Date | null;
  open: boolean;
  micros: bigint;
  per_hour: bigint;
  price: bigint;
  price_hours: number;
  quoted: bigint;
  charged: bigint;
  uncollected: bigint;
  refunded: bigint;
}

/**
 * SQL: the intervals of a workspace as far as they lie within a range. What was charged up to a moment is the running total
 * of the last line before it, so that any split of a range adds up to the whole; what was charged beyond the true end, and
 * what was given back of it, counts where it ended.
 */
const intervals = (workspaceId: number, { from, to, queryString }: Range): RawBuilder<unknown> => sql`
  select s.id, s.kind as resource_kind, s.resource_id, ${sql.raw(RESOURCE_NAMES)}, s.rate, part.start, case when part.stop > part.start then part.stop end as stop,
    s.ended_at is null as open, (extract(epoch from part.stop - part.start) * 1000000)::bigint as micros,
    ${SEGMENT_PER_HOUR} as per_hour, s.price, s.price_hours,
    ${segmentCostUntil(sql`part.stop`)} - ${segmentCostUntil(sql`part.start`)} as quoted,
    coalesce(upto.charged_total, 0) - coalesce(before.charged_total, 0) - back.refunded as charged,
    coalesce(upto.uncollected_total, 0) - coalesce(before.uncollected_total, 0) - back.forgiven as uncollected,
    back.refunded + back.forgiven as refunded
  from segment s ${sql.raw(joinBilledResource('s.kind', 's.resource_id'))},
    lateral (select ${from ?? null}::timestamptz as from_at, ${to ?? null}::timestamptz as to_at) asked,
    lateral (select greatest(s.started_at, asked.from_at) as start) begun,
    lateral (select begun.start, greatest(begun.start, least(s.metered_until, s.ended_at, asked.to_at)) as stop) part,
    lateral (select ${ACTUAL_END} as at) ended
    left join lateral (select charged_total, uncollected_total from segment_charge c
      where c.segment_id = s.id
        and c.until <= case when asked.to_at is null or ended.at <= asked.to_at then 'infinity' else asked.to_at end
      order by c.until desc limit 1) upto on true
    left join lateral (select charged_total, uncollected_total from segment_charge c
      where c.segment_id = s.id
        and c.until < case when ended.at < asked.from_at then 'infinity' else asked.from_at end
      order by c.until desc limit 1) before on true,
    lateral (select ended.at >= coalesce(asked.from_at, '-infinity') and ended.at <= coalesce(asked.to_at, 'infinity') as it) here,
    lateral (select case when here.it then s.refunded else 0 end as refunded,
      case when here.it then s.forgiven else 0 end as forgiven) back
  where s.client_id = ${workspaceId} and (s.ended_at is null or s.ended_at > s.started_at or s.charged > 0)
    and s.started_at <= coalesce(asked.to_at, 'infinity')
    and (asked.from_at is null or coalesce(s.ended_at, 'infinity') >= asked.from_at)
    and (asked.from_at <= asked.to_at) is not false and ${isOf(queryString)}`;

/** Of a joined server or storage. */
function isOf(queryString: string | undefined): RawBuilder<boolean> {
  return queryString ? contains(RESOURCE_NAME_COLUMNS, queryString) : sql<boolean>`true`;
}

const COLUMNS = {
  createdAt: 'start',
  from: 'start',
  title: 'title',
  seconds: 'micros',
  pricePerHour: 'per_hour',
  quoted: 'quoted',
  charged: 'charged',
};

export interface Totals {
  count: number;
  micros: bigint;
  quoted: bigint;
  charged: bigint;
  uncollected: bigint;
  refunded: bigint;
}

export async function pageOfIntervals(
  db: Db,
  workspaceId: number,
  range: Range,
  request: EntityFilterRequest,
): Promise<{ rows: IntervalRow[]; totals: Totals }> {
  const column = sql.ref(sortColumn(request, COLUMNS));
  const direction = sql.raw(request.orderByDirection);
  const all = sql`from (${intervals(workspaceId, range)}) as interval`;
  const { rows } = await sql<IntervalRow>`select * ${all} order by ${column} ${direction}, id ${direction}
    limit ${request.limit} offset ${offsetOf(request)}`.execute(db);
  const summed =
    await sql<Totals>`select count(*)::int as count, coalesce(sum(micros) filter (where resource_kind = 'instance' and rate = 'running'), 0)::bigint as micros,
    coalesce(sum(quoted), 0)::bigint as quoted, coalesce(sum(charged), 0)::bigint as charged,
    coalesce(sum(uncollected), 0)::bigint as uncollected, coalesce(sum(refunded), 0)::bigint as refunded ${all}`.execute(
      db,
    );
  return { rows, totals: summed.rows[0]! };
}

/** Newest first, those with a smaller number than `before`. */
export async function intervalsBefore(
  db: Db,
  workspaceId: number,
  range: Range,
  before: number | undefined,
  limit: number,
): Promise<IntervalRow[]> {
  const { rows } = await sql<IntervalRow>`select * from (${intervals(workspaceId, range)}) as interval
    where ${before === undefined ? sql`true` : sql`id < ${before}`} order by id desc limit ${limit}`.execute(db);
  return rows;
}

const DAYS_MOST = 400;

/** What each day of the range was charged, oldest first; days are whole, and those of UTC. */
export async function spentByDay(
  db: Db,
  workspaceId: number,
  { from, to, queryString }: Range,
): Promise<{ day: string; charged: bigint }[]> {
  const { rows } = await sql<{ day: string; charged: bigint }>`
    select * from (
      select day::text, sum(charged - refunded)::bigint as charged from usage_day u
        ${sql.raw(joinBilledResource('u.kind', 'u.resource_id'))}
      where client_id = ${workspaceId} and ${isOf(queryString)}
        and day >= coalesce((${from ?? null}::timestamptz at time zone 'UTC')::date, '-infinity')
        and day <= coalesce((${to ?? null}::timestamptz at time zone 'UTC')::date, 'infinity')
      group by day order by u.day desc limit ${DAYS_MOST}
    ) as newest order by day`.execute(db);
  return rows;
}
