import { RESOLUTIONS } from '@stagi/contract/metrics.ts';
import { sql } from 'kysely';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { aggregates, FIGURES, tableOf } from './tables.ts';

/** Rows get the time at which their statement began, and become visible within the statement timeout. */
const SETTLED_AFTER_MS = 10_000;
/** Rows of so many stretches are read in one transaction: with a thousand servers it takes about a second. */
const STRETCHES = { '1m': 5, '15m': 2 } as const;

/** Thins the samples up to now into the coarser tables. Of several processes, one does it at a time. */
export async function thinSamples(db: Db, now: Date): Promise<void> {
  for (const [n, { name, seconds }] of RESOLUTIONS.entries()) {
    const finer = RESOLUTIONS[n - 1];
    if (!finer || name === '15s') continue;
    const step = { into: name, from: finer.name, seconds, oldestDays: finer.days };
    while (await thinOnce(db, step, now));
  }
}

interface Step {
  into: '1m' | '15m';
  from: (typeof RESOLUTIONS)[number]['name'];
  /** The length of a stretch in the coarser table. */
  seconds: number;
  /** What is older than this is not in the finer table any more. */
  oldestDays: number;
}

/** Thins the next stretches, exactly once: they and the mark change in one transaction. False when none is left. */
async function thinOnce(db: Db, { into, from, seconds, oldestDays }: Step, now: Date): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    const mark = await trx
      .selectFrom('usage_thinning')
      .select('until')
      .where('resolution', '=', into)
      .forUpdate()
      .skipLocked()
      .executeTakeFirst();
    if (!mark) return false;
    const length = seconds * 1000;
    const settled = floor((await settledUntil(trx, into, now)).getTime(), length);
    const oldest = floor(now.getTime() - (oldestDays + 2) * 86_400_000, length);
    const start = Math.max(mark.until.getTime(), oldest);
    const end = Math.min(settled, start + STRETCHES[into] * length);
    if (end <= start) return false;
    const columns = sql.join(FIGURES.map((name) => sql.ref(name)));
    await sql`
      insert into ${sql.table(tableOf(into))} (instance_id, container_id, gpu, at, samples, ${columns})
      select instance_id, container_id, gpu, date_bin(${`${seconds} seconds`}::interval, at, 'epoch'), sum(samples), ${aggregates}
      from ${sql.table(tableOf(from))}
      where at >= ${new Date(start)} and at < ${new Date(end)}
      group by 1, 2, 3, 4
      on conflict do nothing`.execute(trx);
    await trx
      .updateTable('usage_thinning')
      .set({ until: new Date(end) })
      .where('resolution', '=', into)
      .execute();
    return end < settled;
  });
}

/** Up to when the finer table is complete. */
async function settledUntil(trx: Db, into: Step['into'], now: Date): Promise<Date> {
  if (into === '1m') return new Date(now.getTime() - SETTLED_AFTER_MS);
  const finer = await trx
    .selectFrom('usage_thinning')
    .select('until')
    .where('resolution', '=', '1m')
    .executeTakeFirstOrThrow();
  return finer.until;
}

const floor = (time: number, length: number): number => Math.floor(time / length) * length;
