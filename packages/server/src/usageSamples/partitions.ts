import { RESOLUTIONS, type Resolution } from '@stagi/contract/metrics.ts';
import { sql } from 'kysely';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { tableOf } from './tables.ts';

const DAY_MS = 86_400_000;
/** How long a partition is. Weeks begin on Thursdays, as the first day of 1970 was one. */
const LENGTH_MS: Record<Resolution, number> = { '15s': DAY_MS, '1m': DAY_MS, '15m': 7 * DAY_MS };
/** Partitions are made so far ahead of their rows. */
const AHEAD_MS = 2 * DAY_MS;
/** Figures that are not thinned yet are kept for so long beyond their time. */
const UNTHINNED_MS = 2 * DAY_MS;

interface Partition {
  name: string;
  resolution: Resolution;
  start: Date;
  end: Date;
}

/** Makes the partitions for now and the next days; does nothing where they exist. */
export async function makePartitions(db: Db, now: Date): Promise<void> {
  const existing = new Set((await partitions(db)).map(({ name }) => name));
  for (const { name: resolution } of RESOLUTIONS) {
    const length = LENGTH_MS[resolution];
    // One behind: rows of thinning begin where it stopped.
    for (let start = floor(now.getTime() - length, length); start <= now.getTime() + AHEAD_MS; start += length)
      if (!existing.has(nameOf(resolution, start))) await makePartition(db, resolution, start);
  }
}

async function makePartition(db: Db, resolution: Resolution, start: number): Promise<void> {
  const name = sql.table(nameOf(resolution, start));
  const parent = sql.table(tableOf(resolution));
  const [from, to] = [start, start + LENGTH_MS[resolution]].map((time) => sql.lit(new Date(time).toISOString()));
  await inTransaction(db, async (trx) => {
    await lockPartitions(trx);
    // Attaching, unlike creating it in place, blocks nobody who reads or writes the others.
    await sql`create table if not exists ${name} (like ${parent} including defaults)`.execute(trx);
    await sql`do $$ begin
      if not exists (select from pg_inherits where inhrelid = ${sql.lit(nameOf(resolution, start))}::regclass) then
        alter table ${parent} attach partition ${name} for values from (${from}) to (${to});
      end if;
    end $$`.execute(trx);
  });
}

/**
 * Drops the partitions whose figures are all older than they are kept, once those are thinned. Returns their names.
 * A partition is gone in one moment, where deleting its rows would take hours.
 */
export async function dropPartitions(db: Db, now: Date): Promise<string[]> {
  const marks = await db.selectFrom('usage_thinning').selectAll().execute();
  const due = (await partitions(db)).filter(({ resolution, end }) => {
    const n = RESOLUTIONS.findIndex(({ name }) => name === resolution);
    const next = RESOLUTIONS[n + 1];
    const thinned = next ? marks.find((mark) => mark.resolution === next.name)!.until : null;
    const age = now.getTime() - end.getTime() - RESOLUTIONS[n]!.days * DAY_MS;
    return age >= 0 && (thinned === null || thinned >= end || age >= UNTHINNED_MS);
  });
  for (const { name } of due)
    await inTransaction(db, async (trx) => {
      await lockPartitions(trx);
      await sql`drop table if exists ${sql.table(name)}`.execute(trx);
    });
  return due.map(({ name }) => name);
}

export async function partitions(db: Db): Promise<Partition[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_inherits join pg_class on pg_class.oid = inhrelid
    where inhparent in (${sql.join(RESOLUTIONS.map(({ name }) => sql`${sql.lit(tableOf(name))}::regclass`))})
    order by relname`.execute(db);
  return rows.flatMap(({ name }) => {
    const [, resolution, day] = /^usage_sample_(15s|1m|15m)_(\d{8})$/.exec(name) ?? [];
    if (!resolution || !day) return [];
    const start = new Date(`${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}T00:00:00Z`);
    const end = new Date(start.getTime() + LENGTH_MS[resolution as Resolution]);
    return [{ name, resolution: resolution as Resolution, start, end }];
  });
}

/** Two processes change the same partitions one after the other; a table that stays busy fails the attempt. */
async function lockPartitions(trx: Db): Promise<void> {
  await sql`set local lock_timeout = '2s'`.execute(trx);
  await sql`select pg_advisory_xact_lock(hashtext('usage_sample partitions'))`.execute(trx);
}

const floor = (time: number, length: number): number => Math.floor(time / length) * length;

const nameOf = (resolution: Resolution, start: number): string =>
  `${tableOf(resolution)}_${new Date(start).toISOString().slice(0, 10).replaceAll('-', '')}`;
