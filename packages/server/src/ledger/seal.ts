import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { Db } from '../db/schema.ts';
import { readPage } from './digest.ts';

export interface Seal {
  day: string;
  last: bigint;
  journals: bigint;
  prev: Buffer;
  hash: Buffer;
}

/** What the first seal follows. */
export const NO_SEAL: Buffer = Buffer.alloc(0);

export async function sealsOf(db: Db): Promise<Seal[]> {
  const { rows } = await sql<Seal>`select day::text, last_journal_id as last, journals, prev_hash as prev, hash
    from ledger_seal order by day`.execute(db);
  return rows;
}

/**
 * Seals what was booked since the last seal, once for each day that is over; the log keeps the seal too, out of reach of
 * whoever changes the database. False when the day has its seal.
 */
export async function sealYesterday({ db, log }: Pick<Context, 'db' | 'log'>): Promise<boolean> {
  const { rows: days } = await sql<{ day: string; sealed: boolean }>`
    select d.day::text, exists (select 1 from ledger_seal s where s.day >= d.day) as sealed
    from (select (now() at time zone 'UTC')::date - 1 as day) d`.execute(db);
  const { day, sealed } = days[0]!;
  if (sealed) return false;
  const before = (await sealsOf(db)).at(-1);
  const { rows: ends } = await sql<{ last: bigint }>`select ledger_end() as last`.execute(db);
  const { last } = ends[0]!;

  let after = before?.last ?? 0n;
  let hash = before?.hash ?? NO_SEAL;
  let journals = 0;
  do {
    const page = await readPage(db, after, last, hash);
    ({ last: after, digest: hash } = page);
    journals += page.journals;
  } while (after < last);
  const made = await db
    .insertInto('ledger_seal')
    .values({
      day,
      last_journal_id: last,
      journals: BigInt(journals),
      prev_hash: before?.hash ?? NO_SEAL,
      hash,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('day')
    .executeTakeFirst();
  if (made) log.info({ day, lastJournal: String(last), journals, seal: hash.toString('hex') }, 'the ledger was sealed');
  return made !== undefined;
}
