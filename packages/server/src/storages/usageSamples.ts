import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { Db } from '../db/schema.ts';
import { repeatEvery } from '../loops/repeatEvery.ts';

const SAMPLE_INTERVAL_MS = 5 * 60_000;
/** A chart shows no more points than that. */
const MAX_POINTS = 500;

export interface UsagePoint {
  at: Date;
  used_bytes: bigint;
  object_count: bigint;
}

/** Notes once an hour what each storage holds. Any number of processes may do so. */
export function startUsageSamples(ctx: Context): { stop(): Promise<void> } {
  return repeatEvery(ctx, SAMPLE_INTERVAL_MS, 'noting what storages hold', () => sampleUsage(ctx.db));
}

export async function sampleUsage(db: Db): Promise<void> {
  await sql`insert into storage_sample (storage_id, at, used_bytes, object_count)
    select s.id, date_trunc('hour', clock_timestamp()), b.used_bytes, b.object_count
    from storage s join s3_bucket b on b.id = s.bucket_id where s.closed_at is null
    on conflict do nothing`.execute(db);
}

/** What a storage held over time, the present last. Of many hours each so many-th is shown. */
export async function usageOverTime(
  db: Db,
  storageId: number,
  { from, to }: { from?: string; to?: string },
): Promise<UsagePoint[]> {
  const { rows } = await sql<UsagePoint>`
    with sampled as (
      select at, used_bytes, object_count, row_number() over (order by at desc) - 1 as place, count(*) over () as n
      from storage_sample where storage_id = ${storageId}
        and at >= coalesce(${from ?? null}::timestamptz, '-infinity') and at <= coalesce(${to ?? null}::timestamptz, 'infinity')
    )
    select at, used_bytes, object_count from sampled where place % (n / ${MAX_POINTS} + 1) = 0
    union all
    select clock_timestamp(), b.used_bytes, b.object_count from storage s join s3_bucket b on b.id = s.bucket_id
    where s.id = ${storageId} and s.closed_at is null and ${to === undefined}
    order by at`.execute(db);
  return rows;
}
