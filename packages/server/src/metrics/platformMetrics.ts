import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { MAIL_BACKLOG, type MailBacklog } from '../mail/backlog.ts';
import { IS_KNOWN } from '../mail/mailServer.ts';

/** The metrics of the whole platform, from the database. */
export interface PlatformMetrics {
  /** Jobs that are due, with retries, counted up to `JOBS_MAX` per queue, and how long the oldest has been due. */
  jobs: { name: string; waiting: number; oldestSeconds: number }[];
  /** How long the most overdue server has waited for its next step; 0 when none is due. */
  reconcileLagSeconds: number;
  /** How long the usage of any workspace has not been charged; 0 while nothing runs. */
  meteringLagSeconds: number;
  /** Logs that could not be copied to their bucket several times in a row. */
  logCopiesFailing: number;
  /** Machines at clouds that belong to no open server. */
  strays: { reason: string; count: number }[];
  instances: { kind: string; status: string; count: number }[];
  containers: { status: string; count: number }[];
  /** The last finished verification of the ledger: its result, and how long ago. Null before the first. */
  ledger: { sound: boolean; seconds: number } | null;
  /** The last finished check of all audit logs: its result, and how long ago. Null before the first. */
  audit: { whole: boolean; seconds: number } | null;
  /** Unsent mails; `null` where mail is not configured. */
  mails: MailBacklog | null;
  /** True when the mail server was reached; `null` where mail is not configured, or nobody has looked lately. */
  mailServerUp: boolean | null;
}

const JOBS_MAX = 10_000;

/** One statement, which reads only open rows, however many closed ones there are. */
export async function readPlatformMetrics(db: Db, sendsMail: boolean): Promise<PlatformMetrics> {
  const { rows } = await sql<{ figures: PlatformMetrics }>`
    select jsonb_build_object(
      'jobs', (
        select coalesce(jsonb_agg(jsonb_build_object(
          'name', queue.name, 'waiting', due.waiting, 'oldestSeconds', due.oldest)), '[]')
        from pgboss.queue, lateral (
          select count(*) as waiting, coalesce(greatest(0, extract(epoch from now() - min(start_after))), 0) as oldest
          from (
            select start_after from pgboss.job
            where job.name = queue.name and state < 'active' and start_after <= now() limit ${sql.lit(JOBS_MAX)}
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
      'logCopiesFailing', (select count(*) from log_copy where finished_at is null and attempts > 3),
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
      'mails', (${MAIL_BACKLOG} having ${sql.lit(sendsMail)}),
      'mailServerUp', (select state = 'reached' from mail_server where ${IS_KNOWN} and ${sql.lit(sendsMail)})
    ) as figures`.execute(db);
  return rows[0]!.figures;
}
