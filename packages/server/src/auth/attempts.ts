import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { Db } from '../db/schema.ts';
import { tooMany } from '../http/errors.ts';

/** So many tries without waiting, then each wait is twice the one before, up to the longest: nothing is ever locked. */
interface Patience {
  free: number;
  /** Seconds. */
  wait: number;
  longest: number;
}

export const GUESSES: Patience = { free: 5, wait: 15, longest: 900 };
export const MAILS: Patience = { free: 5, wait: 60, longest: 900 };
/** One mail a minute to whoever asks for it again. */
export const RESENDS: Patience = { free: 1, wait: 60, longest: 900 };
export const HOURLY: Patience = { free: 1, wait: 3_600, longest: 3_600 };

/** Takes a try and answers how many there have been; throws 429 with the wait when it comes too soon. */
export async function takeAttempt(ctx: Pick<Context, 'db'>, key: string, patience: Patience): Promise<number> {
  const { taken, tries, seconds } = await tryNow(ctx, key, patience);
  if (!taken) throw tooMany(Math.max(1, seconds));
  return tries;
}

interface Outcome {
  taken: boolean;
  tries: number;
  /** Until the next may be taken. */
  seconds: number;
}

/** In one statement, so that parallel tries cannot share one. A day of quiet forgives everything. */
export async function tryNow({ db }: Pick<Context, 'db'>, key: string, patience: Patience): Promise<Outcome> {
  const { free, wait, longest } = patience;
  const { rows } = await sql<Outcome>`
    with taken as (
      insert into attempt as a (key, tries, next_at, last_at)
      values (${hashOf(key)}, 1, now() + ${free <= 1 ? wait : 0} * interval '1 second', now())
      on conflict (key) do update set
        tries = case when a.last_at < now() - interval '1 day' then 1 else a.tries + 1 end,
        next_at = now() + interval '1 second' * case
          when a.last_at < now() - interval '1 day' then ${free <= 1 ? wait : 0}
          when a.tries + 1 < ${free} then 0
          else least(${longest}, ${wait} * power(2, least(a.tries + 1 - ${free}, 20))) end,
        last_at = now()
      where a.next_at <= clock_timestamp()
      returning tries)
    select exists (select 1 from taken) as taken, coalesce((select tries from taken), 0) as tries,
      coalesce((select ceil(extract(epoch from next_at - clock_timestamp()))::int from attempt where key = ${hashOf(key)}), 1) as seconds`.execute(
    db,
  );
  return rows[0] ?? { taken: false, tries: 0, seconds: 1 };
}

/** Throws 429 while the next try has to wait, without taking one. */
export async function refuseWhileWaiting({ db }: Pick<Context, 'db'>, key: string): Promise<void> {
  const { rows } = await sql<{ seconds: number }>`
    select ceil(extract(epoch from next_at - clock_timestamp()))::int as seconds from attempt
    where key = ${hashOf(key)} and next_at > clock_timestamp()`.execute(db);
  if (rows[0]) throw tooMany(Math.max(1, rows[0].seconds));
}

/** Who has shown that they are who they say starts anew. */
export async function forgetAttempts(db: Db, key: string): Promise<void> {
  await db.deleteFrom('attempt').where('key', '=', hashOf(key)).execute();
}

const hashOf = (key: string): Buffer => createHash('sha256').update(key).digest();
