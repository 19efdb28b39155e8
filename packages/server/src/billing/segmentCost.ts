import { type RawBuilder, sql } from 'kysely';

/**
 * SQL: micro-STAGI that the segment `s` costs from its start until `at`, rounded down. `div` is exact, where the quotient
 * of `/` would be rounded first.
 */
export const segmentCostUntil = (at: RawBuilder<unknown>): RawBuilder<bigint> =>
  sql`div(s.price::numeric * extract(epoch from ${at} - s.started_at), 3600 * s.price_hours)::bigint`;

/** SQL: the rate of the segment `s` in micro-STAGI an hour, rounded up; charges are computed from its price. */
export const SEGMENT_PER_HOUR: RawBuilder<bigint> = sql`((s.price + s.price_hours - 1) / s.price_hours)`;
