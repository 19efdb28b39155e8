import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { Db } from '../db/schema.ts';
import { tooManyRequests } from '../http/errors.ts';

/** Exponential backoff: `free` attempts without a wait, then each wait doubles, up to `longest`. There is no lockout. */
interface Backoff {
  free: number;
  /** Seconds. */
  wait: number;
  longest: number;
}

export const GUESS_BACKOFF: Backoff = { free: 5, wait: 15, longest: 900 };
export const MAIL_BACKOFF: Backoff = { free: 5, wait: 60, longest: 900 };
/** For resending a mail: one a minute. */
export const RESEND_BACKOFF: Backoff = { free: 1, wait: 60, longest: 900 };
export const HOURLY_WAIT: Backoff = { free: 1, wait: 3_600, longest: 3_600 };

/** Counts an attempt and returns how many there have been; throws 429 with the wait when it comes too soon. */
export async function countAttempt(ctx: Pick<Context, 'db'>, key: string, backoff: Backoff): Promise<number> {
  const { taken, tries, seconds } = await tryAttempt(ctx, key, backoff);
  if (!taken) throw tooManyRequests(Math.max(1, seconds));
  return tries;
}

interface Outcome {
  taken: boolean;
  tries: number;
  /** The wait before the next attempt. */
  seconds: number;
}

/** One statement, so that parallel attempts are counted one by one. After a day without attempts the count starts again. */
export async function tryAttempt({ db }: Pick<Context, 'db'>, key: string, backoff: Backoff): Promise<Outcome> {
  const { free, wait, longest } = backoff;
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

/** Throws 429 while the next attempt has to wait, without counting one. */
export async function refuseDuringBackoff({ db }: Pick<Context, 'db'>, key: string): Promise<void> {
  const { rows } = await sql<{ seconds: number }>`
    select ceil(extract(epoch from next_at - clock_timestamp()))::int as seconds from attempt
    where key = ${hashOf(key)} and next_at > clock_timestamp()`.execute(db);
  if (rows[0]) throw tooManyRequests(Math.max(1, rows[0].seconds));
}

/** After a success the count starts again. */
export async function resetAttempts(db: Db, key: string): Promise<void> {
  await db.deleteFrom('attempt').where('key', '=', hashOf(key)).execute();
}

const hashOf = (key: string): Buffer => createHash('sha256').update(key).digest();
