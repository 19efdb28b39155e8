import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';

/** What only the database knows, of the whole platform. */
export interface Figures {
  /** Jobs that wait, retries too, counted up to `JOBS_MOST` a queue, and for how long the oldest could have run. */
  jobs: { name: string; waiting: number; oldestSeconds: number }[];
  /** For how long the most overdue server waits for its next step; 0 when none is due. */
  reconcileLagSeconds: number;
  /** For how long the workspace that waits longest for what runs to be charged does so; 0 while nothing runs. */
  meteringLagSeconds: number;
  /** Machines at clouds that no open server owns. */
  strays: { reason: string; count: number }[];
  instances: { kind: string; status: string; count: number }[];
  containers: { status: string; count: number }[];
  /** The last verification of the ledger that came to an end: whether it adds up, and how long ago. Null before the first. */
  ledger: { sound: boolean; seconds: number } | null;
  /** The last check of all audit logs that came to an end: whether all are whole, and how long ago. Null before the first. */
  audit: { whole: boolean; seconds: number } | null;
  /** Mails that are stored and not sent, counted up to `MAILS_MOST`; `null` where mails are not sent at all. */
  mails: { waiting: number; failed: number; oldestSeconds: number } | null;
}

const JOBS_MOST = 10_000;
const MAILS_MOST = 10_000;

/** One statement over what is open; what is closed, however much, is not read. */
export async function readFigures(db: Db, sendsMail: boolean): Promise<Figures> {
  const { rows } = await sql<{ figures: Figures }>`
    select jsonb_build_object(
      'jobs', (
        select coalesce(jsonb_agg(jsonb_build_object(
          'name', queue.name, 'waiting', due.waiting, 'oldestSeconds', due.oldest)), '[]')
        from pgboss.queue, lateral (
          select count(*) as waiting, coalesce(greatest(0, extract(epoch from now() - min(start_after))), 0) as oldest
          from (
            select start_after from pgboss.job
            where job.name = queue.name and state < 'active' and start_after <= now() limit ${sql.lit(JOBS_MOST)}
          ) as job
        ) as due
        where queue.name not like '\\_\\_%'
      ),
      'strays', (
        select coalesce(jsonb_agg(found), '[]')
        from (select reason, count(*) from stray where gone_at is null group by reason) as found
      ),
      'reconcileLagSeconds', (
        select coalesce(greatest(0, extract(epoch from now() - least(
          (select min(next_at) from instance where next_at is not null and lock_expires_at is null),
          (select min(lock_expires_at) from instance where lock_expires_at is not null)
        ))), 0)
      ),
      'meteringLagSeconds', (
        select coalesce(greatest(0, extract(epoch from now() - min(metered_at))), 0)
        from (select distinct client_id from segment where not settled) as running join workspace_meter using (client_id)
      ),
      'instances', (
        select coalesce(jsonb_agg(open), '[]')
        from (select kind, status, count(*) from instance where closed_at is null group by kind, status) as open
      ),
      'containers', (
        select coalesce(jsonb_agg(open), '[]')
        from (select status, count(*) from container where deleted_at is null group by status) as open
      ),
      'ledger', (
        select jsonb_build_object('sound', state = 'sound', 'seconds', extract(epoch from now() - ended_at))
        from ledger_run where state in ('sound', 'unsound') order by id desc limit 1
      ),
      'audit', (
        select jsonb_build_object('whole', broken_chains = 0, 'seconds', extract(epoch from now() - ended_at))
        from audit_check where ended_at is not null and (broken_chains > 0 or ended_at <> deadline_at)
        order by id desc limit 1
      ),
      'mails', (
        select jsonb_build_object(
          'waiting', count(*) filter (where failed_at is null), 'failed', count(failed_at),
          'oldestSeconds', coalesce(extract(epoch from now() - min(created_at) filter (where failed_at is null)), 0))
        from (select created_at, failed_at from mail where sent_at is null limit ${sql.lit(MAILS_MOST)}) as unsent
        having ${sql.lit(sendsMail)}
      )
    ) as figures`.execute(db);
  return rows[0]!.figures;
}
