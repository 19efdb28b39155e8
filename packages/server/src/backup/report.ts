import { TASK_ENDED } from '@stagi/contract/taskRules.ts';
import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { verifyLedger } from '../ledger/verify.ts';

interface Counts {
  people: number;
  workspaces: number;
  projects: number;
  objects: number;
  own_servers: number;
  tasks: number;
  schedules: number;
}

/**
 * Lines for the operator who decides about a restored platform: its contents, and the effects of a release. Reads only.
 */
export async function reportRestored(db: Db, restoredFrom: Date): Promise<string[]> {
  const counts = await countRows(db);
  const rented = await countRented(db);
  const ledger = await verifyLedger(db);
  return [
    `People: ${counts.people}, workspaces: ${counts.workspaces}, projects: ${counts.projects}, objects: ${counts.objects}.`,
    ledger.problems === 0
      ? `Ledger: ${ledger.journals} journals verified, no problem.`
      : `Ledger: ${ledger.journals} journals verified, ${ledger.problems} PROBLEMS: npm run ledger:verify names them.`,
    '',
    'Released, it goes on from the moment of the backup:',
    `- Rented servers: ${rented.length === 0 ? 'none' : rented.map(({ provider, n }) => `${n} at ${provider}`).join(', ')}. ` +
      'Each is looked for at its cloud. Those that are gone get status error; machines that were rented after the backup are ' +
      'listed under Strays for you to adopt or delete, and are not touched before.',
    `- Own servers: ${counts.own_servers}. They connect by themselves; those that were attached after the backup are attached again.`,
    `- Tasks that wait or run: ${counts.tasks}. They go on, even where they have ended since.`,
    `- Schedules: ${counts.schedules}. Times that passed meanwhile are left out.`,
    `- Billing: nothing is charged for the time from ${restoredFrom.toISOString()} until the release. What was paid and used after the backup is not known.`,
    '- Mails of before the backup that were not sent are not sent. Everybody signs in again.',
    '- What was revoked after the backup is valid again: people who were removed or disabled, API tokens, access and SSH keys.',
    '- Stop the former platform for good before: two of the same would act on the same machines.',
  ];
}

async function countRows(db: Db): Promise<Counts> {
  const { rows } = await sql<Counts>`select
    (select count(*)::int from app_user) as people,
    (select count(*)::int from workspace where deleted_at is null) as workspaces,
    (select count(*)::int from project where closed_at is null) as projects,
    (select count(*)::int from s3_object) as objects,
    (select count(*)::int from instance where kind = 'self-hosted' and closed_at is null) as own_servers,
    (select count(*)::int from task where status not in (${sql.join(TASK_ENDED)})) as tasks,
    (select count(*)::int from task_schedule where deleted_at is null and paused_at is null) as schedules`.execute(db);
  return rows[0]!;
}

async function countRented(db: Db): Promise<{ provider: string; n: number }[]> {
  const { rows } = await sql<{ provider: string; n: number }>`
    select provider, count(*)::int as n from instance where kind = 'rented' and closed_at is null
    group by provider order by provider`.execute(db);
  return rows;
}
