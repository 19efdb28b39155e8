import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { type Metered, rateOf } from './segmentRate.ts';

interface Row extends Metered {
  client_id: number;
  running: string;
  stopped: string;
  segment_id: string | null;
  segment_rate: 'running' | 'stopped';
  segment_price: string;
  has_unconfirmed: boolean;
}

/** Statuses of a creation that failed or was cancelled: its segments are voided. */
const CAME_TO_NOTHING = ['creation failed', 'terminating', 'terminated'];

/**
 * Brings the segments of a rented server in line with its row, in the transaction that changed the row: one segment ends
 * and the next begins at the same moment. Books nothing; the next tick settles what has ended.
 */
export async function syncSegments(trx: Db, instanceId: number): Promise<void> {
  const row = await read(trx, instanceId);
  if (!row) return;
  const isOpen = row.segment_id !== null;
  const rate = rateOf(row, isOpen && row.segment_rate === 'running');
  const price = rate === null ? null : rate === 'running' ? row.running : row.stopped;
  const isSame = isOpen && rate === row.segment_rate && price === row.segment_price;
  if (isOpen && !isSame) await close(trx, instanceId, row);
  if (rate !== null && !isSame) await open(trx, instanceId, row, rate, price!);
  if (row.has_unconfirmed && row.status !== 'creating') await confirmOrVoid(trx, instanceId, row.status);
}

async function read(trx: Db, instanceId: number): Promise<Row | undefined> {
  const { rows } = await sql<Row>`
    select i.status, i.machine_state, i.desired, i.zero_stopped_at, i.workspace_id as client_id,
      coalesce(i.price_per_hour, 0)::text as running, coalesce(i.stopped_price_per_hour, 0)::text as stopped,
      s.id::text as segment_id, s.rate as segment_rate, s.price::text as segment_price,
      exists (select 1 from segment u where u.kind = 'instance' and u.resource_id = i.id and not u.confirmed and not u.voided) as has_unconfirmed
    from instance i left join segment s on s.kind = 'instance' and s.resource_id = i.id and s.ended_at is null
    where i.id = ${instanceId} and i.kind = 'rented'`.execute(trx);
  return rows[0];
}

/** Now, or earlier on its cloud's own evidence: what does not run any more ran until it was last shown running. */
async function close(trx: Db, instanceId: number, row: Row): Promise<void> {
  const isLost = row.segment_rate === 'running' && row.machine_state !== 'running';
  await sql`update segment s set ended_at = greatest(s.started_at,
      case when ${isLost} then coalesce(i.running_seen_at, s.started_at)
        else greatest(s.metered_until, metering_clock()) end)
    from instance i where i.id = ${instanceId} and s.kind = 'instance' and s.resource_id = i.id and s.ended_at is null`.execute(
    trx,
  );
}

/** Where the one before ended, if that was now. Never before it, even when the clock has gone back since. */
async function open(trx: Db, instanceId: number, row: Row, rate: 'running' | 'stopped', price: string): Promise<void> {
  const follows = row.segment_id !== null;
  await sql`
    insert into segment (client_id, kind, resource_id, rate, price, reserve, started_at, metered_until, confirmed)
    select i.workspace_id, 'instance', i.id, ${rate}, ${price}::bigint,
      case when ${rate === 'running'} and i.offer ->> 'canStop' = 'false' then ${price}::bigint / 2 else 0 end,
      start.at, start.at, ${row.status !== 'creating'}
    from instance i, (select greatest(case when ${follows} then '-infinity' else metering_clock() end,
      coalesce((select max(ended_at) from segment where kind = 'instance' and resource_id = ${instanceId}), '-infinity')) as at) as start
    where i.id = ${instanceId}`.execute(trx);
  await sql`insert into workspace_meter (client_id, metered_at) values (${row.client_id}, metering_clock())
    on conflict do nothing`.execute(trx);
}

/** Confirms the segments of a server that became ready; voids those of one that never did. */
async function confirmOrVoid(trx: Db, instanceId: number, status: string): Promise<void> {
  const set = CAME_TO_NOTHING.includes(status) ? sql`voided = true, settled = false` : sql`confirmed = true`;
  await sql`update segment set ${set}
    where kind = 'instance' and resource_id = ${instanceId} and not confirmed and not voided`.execute(trx);
}
