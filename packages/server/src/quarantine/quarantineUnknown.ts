import { type RawBuilder, sql } from 'kysely';
import type { Context } from '../context.ts';
import { isBackupRunning } from '../db/backupLock.ts';
import { limitConcurrency } from '../loops/concurrency.ts';
import type { Listed, Place } from './place.ts';

/** More than this is no leftover of a crash: it is a wrong or a restored database. */
const ALARM = { count: 100, share: 0.01 };
const LISTED_AT_ONCE = 1_000;
const REMOVED_AT_ONCE = 100;
const PARALLEL = 8;
const APPROVED = sql<boolean>`removal_approved_at is not null`;
const DUE = sql<boolean>`found_at < now() - interval '7 days'`;

type Surroundings = Pick<Context, 'db' | 'log' | 'meters'>;

/**
 * Notes what lies in a place and has no row. Removes what was found for seven days in a row, unless it is so much that the
 * database must be doubted, and what an operator approved. Nothing is moved: with the right database everything is as
 * before. Several processes may do it at once.
 */
export async function quarantineUnknown(ctx: Surroundings, place: Place): Promise<void> {
  const found = await noteUnknown(ctx, place);
  const approved = await removeNoted(ctx, place, APPROVED);
  const [unknown, listed] = [found.unknown - approved, found.listed - approved];
  const hasAlarm = unknown > ALARM.count || unknown > listed * ALARM.share;
  if (hasAlarm)
    ctx.log.error(
      { place: place.name, unknown, listed },
      `bytes that the database does not know are kept, as they are many; if the database is the right one, this removes them: npm run operator -- unknown-remove ${place.name}`,
    );
  const due = hasAlarm ? 0 : await removeNoted(ctx, place, DUE);
  await storeComparison(ctx, place, listed - due, hasAlarm);
  ctx.meters.unknownBytes(place.name, unknown - due, hasAlarm);
}

/** Compares the table with everything that lies in the place, a batch at a time. */
async function noteUnknown(ctx: Surroundings, place: Place): Promise<{ listed: number; unknown: number }> {
  let [listed, unknown, added] = [0, 0, 0];
  let batch: Listed[] = [];
  let after = '';
  const note = async (until: string | null): Promise<void> => {
    const noted = await noteBatch(ctx, place, batch, { after, until });
    unknown += noted.unknown;
    added += noted.added;
    after = until ?? after;
    batch = [];
  };
  for await (const one of place.list()) {
    listed += 1;
    if (one.isKnown) continue;
    batch.push(one);
    if (batch.length === LISTED_AT_ONCE) await note(one.name);
  }
  await note(null);
  if (added > 0)
    ctx.log.warn({ place: place.name, added, unknown, listed }, 'found bytes that the database does not know');
  return { listed, unknown };
}

/** Everything between `after` and `until` that is unknown is in `batch`: other rows of that range are out of date. */
async function noteBatch(
  { db }: Surroundings,
  place: Place,
  batch: readonly Listed[],
  { after, until }: { after: string; until: string | null },
): Promise<{ unknown: number; added: number }> {
  const known = await place.known(batch.map(({ name }) => name));
  const unknown = batch.filter(({ name }) => !known.has(name));
  const names = unknown.map(({ name }) => name);
  await db
    .deleteFrom('unknown_bytes')
    .where('place', '=', place.name)
    .where('name', '>', after)
    .$if(until !== null, (query) => query.where('name', '<=', until!))
    .where(sql<boolean>`not (name = any(${names}::text[]))`)
    .execute();
  const rows = await db
    .selectFrom('unknown_bytes')
    .select('name')
    .where('place', '=', place.name)
    .where(sql<boolean>`name = any(${names}::text[])`)
    .execute();
  const noted = new Set(rows.map(({ name }) => name));
  const added = await present(
    place,
    unknown.filter(({ name }) => !noted.has(name)),
  );
  await sql`insert into unknown_bytes (place, name, bytes)
    select ${place.name}, * from unnest(${added.map(({ name }) => name)}::text[], ${added.map(({ bytes }) => bytes)}::bigint[])
    on conflict do nothing`.execute(db);
  return { unknown: noted.size + added.length, added: added.length };
}

/** Leaves out what was removed, with its row, since it was listed. */
async function present(place: Place, listed: readonly Listed[]): Promise<Listed[]> {
  const limit = limitConcurrency(PARALLEL);
  const exist = await Promise.all(listed.map(({ name }) => limit(() => place.exists(name))));
  return listed.filter((_, n) => exist[n]);
}

/** First the bytes, then the row: after a crash between, it is done again. Answers how many rows there were. */
async function removeNoted({ db, log }: Surroundings, place: Place, which: RawBuilder<boolean>): Promise<number> {
  const limit = limitConcurrency(PARALLEL);
  let [count, removed] = [0, 0];
  for (let last = ''; ; ) {
    const rows = await db
      .selectFrom('unknown_bytes')
      .select('name')
      .where('place', '=', place.name)
      .where('name', '>', last)
      .where(which)
      .orderBy('name')
      .limit(REMOVED_AT_ONCE)
      .execute();
    if (rows.length === 0) break;
    const names = rows.map(({ name }) => name);
    last = names.at(-1)!;
    const known = await place.known(names);
    const unknown = names.filter((name) => !known.has(name));
    // Asked after the rows were looked for. The next comparison removes what is left.
    if (await isBackupRunning(db)) break;
    await Promise.all(unknown.map((name) => limit(() => place.remove(name))));
    await db.deleteFrom('unknown_bytes').where('place', '=', place.name).where('name', 'in', names).execute();
    count += names.length;
    removed += unknown.length;
  }
  if (removed > 0) log.warn({ place: place.name, removed }, 'bytes that the database does not know were removed');
  return count;
}

async function storeComparison(
  { db }: Surroundings,
  { name }: Place,
  listed: number,
  hasAlarm: boolean,
): Promise<void> {
  const comparison = { listed: BigInt(listed), has_alarm: hasAlarm, compared_at: sql<Date>`now()` };
  await db
    .insertInto('quarantine_place')
    .values({ place: name, ...comparison })
    .onConflict((conflict) => conflict.column('place').doUpdateSet(comparison))
    .execute();
}
