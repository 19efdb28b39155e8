import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { nextTime } from '../tasks/cron.ts';

/**
 * Lets a restored platform work again from its next start. Nobody saw what ran since the backup: that time is not billed,
 * and times of schedules that passed are left out. False: it was not held.
 */
export async function releaseHeld(db: Db): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ restored_from: Date }>`
      select restored_from from installation where held_at is not null for update`.execute(trx);
    const held = rows[0];
    if (!held) return false;
    await skipBilling(trx, held.restored_from);
    await skipSchedules(trx);
    await sql`update installation set held_at = null`.execute(trx);
    return true;
  });
}

/** Open segments end at the moment of the backup, and go on from now. */
async function skipBilling(trx: Db, restoredFrom: Date): Promise<void> {
  await sql`
    with ended as (
      update segment set ended_at = greatest(started_at, metered_until, ${restoredFrom}::timestamptz)
      where ended_at is null returning *
    )
    insert into segment (client_id, kind, resource_id, rate, price, price_hours, reserve, started_at, metered_until, confirmed)
    select client_id, kind, resource_id, rate, price, price_hours, reserve, next.at, next.at, confirmed
    from ended cross join lateral (select greatest(metering_clock(), ended.ended_at) as at) as next`.execute(trx);
}

async function skipSchedules(trx: Db): Promise<void> {
  const passed = await trx
    .selectFrom('task_schedule')
    .select(['id', 'cron', 'time_zone'])
    .where('deleted_at', 'is', null)
    .where('paused_at', 'is', null)
    .where('next_at', '<=', sql<Date>`now()`)
    .execute();
  const { rows } = await sql<{ now: Date }>`select now() as now`.execute(trx);
  for (const { id, cron, time_zone: timeZone } of passed)
    await trx
      .updateTable('task_schedule')
      .set({ next_at: nextTime({ cron, timeZone }, rows[0]!.now) })
      .where('id', '=', id)
      .execute();
}
