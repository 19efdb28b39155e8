import { CONTACT_KEPT_DAYS } from '@stagi/contract/contactTopics.ts';
import { PROJECT_ACTIVITY_KEPT_DAYS } from '@stagi/contract/projectRules.ts';
import { sql } from 'kysely';
import type { Context } from './context.ts';
import type { Db } from './db/schema.ts';
import { closeInvitesQuery } from './invites/status.ts';
import type { RunningQueue } from './jobs/queue.ts';

/**
 * Deletes what is past its retention time: idempotent answers, mails and ended terminals (30 days), sessions, sign-up links, cloud checks and
 * audit checks (90), expired links to objects (7), images of feedback and contact requests (180), audit entries, activity of projects and imports, timelines of tasks (400), used codes and tickets, logs of deleted workspaces.
 */
export async function startCleanUp(ctx: Pick<Context, 'db'>, queue: RunningQueue): Promise<void> {
  await queue.work('clean-up', () => cleanUp(ctx));
  await queue.every('clean-up', '17 * * * *');
}

export async function cleanUp({ db }: Pick<Context, 'db'>): Promise<void> {
  await db.deleteFrom('idempotency').where('created_at', '<', sql<Date>`now() - interval '30 days'`).execute();
  await db.deleteFrom('pending_registration').where('expires_at', '<', sql<Date>`now() - interval '1 day'`).execute();
  await db.deleteFrom('email_change').where('expires_at', '<', sql<Date>`now() - interval '1 day'`).execute();
  await db.deleteFrom('password_reset').where('expires_at', '<', sql<Date>`now() - interval '1 day'`).execute();
  await db.deleteFrom('attempt').where('last_at', '<', sql<Date>`now() - interval '1 day'`).execute();
  await db.deleteFrom('starter_network').where('day', '<', sql<Date>`(now() at time zone 'UTC')::date - 1`).execute();
  await db.deleteFrom('known_device').where('last_used_at', '<', sql<Date>`now() - interval '400 days'`).execute();
  await db.deleteFrom('provider_trip').where('expires_at', '<', sql<Date>`now()`).execute();
  // Kept a day after use, as a second use shows that the code was stolen.
  await db.deleteFrom('oauth_code').where('expires_at', '<', sql<Date>`now() - interval '1 day'`).execute();
  await db.deleteFrom('container_code').where('expires_at', '<', sql<Date>`now()`).execute();
  // Skips rows that are locked right now: the next hour takes them.
  await closeInvitesQuery(db, 'expired')
    .where('id', 'in', (of) =>
      of
        .selectFrom('invite')
        .select('id')
        .where('status', '=', 'pending')
        .where('expires_at', '<=', sql<Date>`now()`)
        .forNoKeyUpdate()
        .skipLocked(),
    )
    .execute();
  await db.deleteFrom('sign_up_link').where('expires_at', '<', sql<Date>`now() - interval '90 days'`).execute();
  await db.deleteFrom('stream_ticket').where('expires_at', '<', sql<Date>`now()`).execute();
  await db.deleteFrom('second_factor_ticket').where('expires_at', '<', sql<Date>`now()`).execute();
  await db.deleteFrom('passkey_challenge').where('expires_at', '<', sql<Date>`now()`).execute();
  await db
    .deleteFrom('session')
    .where((where) =>
      where.or([
        where('expires_at', '<', sql<Date>`now()`),
        where('revoked_at', '<', sql<Date>`now() - interval '90 days'`),
      ]),
    )
    .execute();
  await removeExpiredLinks(db);
  await db.deleteFrom('feedback_image').where('created_at', '<', sql<Date>`now() - interval '180 days'`).execute();
  await db.deleteFrom('contact_request').where('created_at', '<', ageOf(CONTACT_KEPT_DAYS)).execute();
  await db.deleteFrom('provider_check').where('asked_at', '<', sql<Date>`now() - interval '90 days'`).execute();
  await db.deleteFrom('audit_check').where('created_at', '<', sql<Date>`now() - interval '90 days'`).execute();
  await db.deleteFrom('project_activity').where('at', '<', ageOf(PROJECT_ACTIVITY_KEPT_DAYS)).execute();
  await sql`delete from task_event where id in (select id from task_event where at < now() - interval '400 days'
    order by id limit 20000)`.execute(db);
  await db.deleteFrom('project_import').where('finished_at', '<', ageOf(PROJECT_ACTIVITY_KEPT_DAYS)).execute();
  await sql`delete from project_instance using instance
    where instance.id = project_instance.instance_id and instance.closed_at < now() - interval '7 days'`.execute(db);
  await db.deleteFrom('terminal_session').where('ended_at', '<', sql<Date>`now() - interval '30 days'`).execute();
  await db.deleteFrom('mail').where('created_at', '<', sql<Date>`now() - interval '30 days'`).execute();
  await eraseLogs(db);
  // As many as the statement timeout allows; the next hour takes more.
  await sql`delete from audit using (select chain, seq from audit where at < now() - interval '400 days'
    order by at, chain, seq limit 20000) as old where audit.chain = old.chain and audit.seq = old.seq`.execute(db);
  // Their jobs have ended long ago.
  await db.deleteFrom('analytics_event').where('created_at', '<', sql<Date>`now() - interval '2 days'`).execute();
  await db
    .updateTable('refresh_token')
    .set({ child_sealed: null })
    .where('used_at', '<', sql<Date>`now() - interval '10 seconds'`)
    .where('child_sealed', 'is not', null)
    .execute();
}

const ageOf = (days: number) => sql<Date>`now() - make_interval(days => ${days})`;

/** Share links, and the keys that signed links of the web app. Keys of people stay: they tell who had access. */
async function removeExpiredLinks(db: Db): Promise<void> {
  const expired = sql<number>`select id from s3_key
    where purpose in ('browser', 'share') and expires_at < now() - interval '7 days'`;
  await sql`delete from storage_share where key_id in (${expired})`.execute(db);
  await db.deleteFrom('s3_key').where(sql<boolean>`id in (${expired})`).execute();
}

const LINES_AT_ONCE = 20_000;

/** The logs of deleted workspaces: too many lines for the transaction that deletes an account. */
async function eraseLogs(db: Db): Promise<void> {
  const erased = sql`(select container.id from container
    join workspace on workspace.id = container.workspace_id where workspace.deleted_at is not null)`;
  for (;;) {
    const { numAffectedRows = 0n } = await sql`delete from log_line where (container_id, seq) in (
      select container_id, seq from log_line where container_id in ${erased} limit ${LINES_AT_ONCE})`.execute(db);
    if (numAffectedRows < BigInt(LINES_AT_ONCE)) break;
  }
  for (const table of ['log_chunk', 'log_copy', 'log_gap', 'log_stream', 'log_head', 'container_run'] as const)
    await sql`delete from ${sql.table(table)} where container_id in ${erased}`.execute(db);
}
