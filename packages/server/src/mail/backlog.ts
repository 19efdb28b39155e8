import { sql } from 'kysely';

export interface MailBacklog {
  waiting: number;
  failed: number;
  oldestSeconds: number;
}

const COUNTED_MAX = 10_000;

/** Unsent mails as one JSON object: those that wait, those whose last try failed, and the age of the oldest that waits. */
export const MAIL_BACKLOG = sql<MailBacklog>`
  select jsonb_build_object(
    'waiting', count(*) filter (where failed_at is null), 'failed', count(failed_at),
    'oldestSeconds', coalesce(extract(epoch from now() - min(created_at) filter (where failed_at is null)), 0))
  from (select created_at, failed_at from mail where sent_at is null limit ${sql.lit(COUNTED_MAX)}) as unsent`;
