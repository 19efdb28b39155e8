import type { Language } from '@stagi/contract/languages.ts';
import { rolesWith } from '@stagi/contract/permissions.ts';
import { sql } from 'kysely';
import { balanceOf } from '../billing/burnRate.ts';
import {
  INSTANCE_DELETED,
  INSTANCE_KEPT,
  INSTANCE_STILL_RUNNING,
  KEPT_DAYS,
  type Named,
  REMINDED_AFTER_DAYS,
  STORAGE_DELETED,
  STORAGE_KEPT,
  zeroBalanceOutcome,
} from '../billing/zero.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import type { Receiver } from '../mail/accountMails.ts';
import { zeroBalanceMail, zeroEndedMail, zeroReminderMail } from '../mail/balanceMails.ts';
import type { MailText } from '../mail/layout.ts';
import { sendMail } from '../mail/send.ts';

type Ctx = Pick<Context, 'config' | 'db' | 'jobs' | 'log' | 'secrets'>;

/** The notices of a zero balance in order, by the days left. After an outage only the latest is sent. */
const NOTICES = [
  { daysLeft: KEPT_DAYS, is: 'begun' },
  { daysLeft: KEPT_DAYS - REMINDED_AFTER_DAYS, is: 'reminder' },
  { daysLeft: 1, is: 'reminder' },
  { daysLeft: 0, is: 'ended' },
] as const;

/** Mails the members with BILLING of workspaces without a balance: at once, and before the kept servers and storages are deleted. */
export async function sendZeroNotices(ctx: Ctx): Promise<void> {
  for (const { id, number } of await dueNotices(ctx.db)) {
    try {
      await inTransaction(ctx.db, (trx) => sendNotice(ctx, trx, id, number));
    } catch (error) {
      ctx.log.error({ err: error, workspaceId: id }, 'a notice of a zero balance could not be sent; it is tried again');
    }
  }
}

/**
 * The first notice lists stopped and lost servers, so it waits up to a minute until that has happened. Reminders need
 * something kept that no credit keeps. The last one is sent when all that was kept is deleted.
 */
async function dueNotices(db: Db): Promise<{ id: number; number: number }[]> {
  const some = (which: string) =>
    sql`exists (select 1 from instance i where i.workspace_id = w.id and ${sql.raw(which)})`;
  const someStorage = (which: string) =>
    sql`exists (select 1 from storage d where d.workspace_id = w.id and ${sql.raw(which)})`;
  const kept = sql`(${some(INSTANCE_KEPT)} or ${someStorage(STORAGE_KEPT)})`;
  const deleted = sql`(${some(INSTANCE_DELETED)} or ${someStorage(STORAGE_DELETED)})`;
  const { rows } = await sql<{ id: number; number: number }>`
    select w.id, n.number from workspace w join workspace_meter m on m.client_id = w.id,
      lateral (select max(number)::int as number
        from unnest(${NOTICES.map(({ daysLeft }) => KEPT_DAYS - daysLeft)}::int[]) with ordinality as notice (after, number)
        where metering_clock() >= w.exhausted_at + make_interval(days => notice.after)) n
    where w.exhausted_at is not null and w.deleted_at is null and m.notices < n.number
      and case n.number
        when 1 then not ${some(INSTANCE_STILL_RUNNING)} or metering_clock() >= w.exhausted_at + interval '1 minute'
        when ${NOTICES.length} then ${deleted} and not ${kept}
        else ${kept} and ${sql.raw(balanceOf('w.id'))} <= m.left_at_zero end`.execute(db);
  return rows;
}

async function sendNotice(ctx: Ctx, trx: Db, workspaceId: number, number: number): Promise<void> {
  const { rows } = await sql<{ name: string; until: Date }>`
    update workspace_meter m set notices = ${number} from workspace w
    where m.client_id = ${workspaceId} and w.id = m.client_id and w.exhausted_at is not null and m.notices < ${number}
    returning w.name, w.exhausted_at + make_interval(days => ${KEPT_DAYS}) as until`.execute(trx);
  const notice = NOTICES[number - 1];
  if (!rows[0] || !notice) return;
  const mail = await noticeMail(trx, workspaceId, notice.is, { workspace: rows[0].name, until: rows[0].until });
  for (const receiver of await receivers(trx, workspaceId))
    await sendMail(ctx, trx, receiver.email, mail(ctx, receiver));
}

async function noticeMail(
  trx: Db,
  workspaceId: number,
  is: (typeof NOTICES)[number]['is'],
  what: { workspace: string; until: Date },
): Promise<(ctx: Ctx, receiver: Receiver) => MailText> {
  const { servers, storages } = await zeroBalanceOutcome(trx, workspaceId);
  const kept = { ...what, servers: titles(servers.kept), storages: titles(storages.kept) };
  switch (is) {
    case 'begun':
      return (ctx, receiver) => zeroBalanceMail(ctx, receiver, { ...kept, lost: titles(servers.lost) });
    case 'reminder':
      return (ctx, receiver) => zeroReminderMail(ctx, receiver, kept);
    case 'ended': {
      const deleted = { ...what, servers: titles(servers.deleted), storages: titles(storages.deleted) };
      return (ctx, receiver) => zeroEndedMail(ctx, receiver, deleted);
    }
  }
}

const titles = (all: readonly Named[]): string[] => all.map(({ title }) => title);

const NOTIFIED_ROLES = rolesWith('BILLING');

async function receivers(
  trx: Db,
  workspaceId: number,
): Promise<{ name: string; email: string; language: Language | null }[]> {
  return trx
    .selectFrom('membership')
    .innerJoin('app_user', 'app_user.id', 'membership.user_id')
    .select(['app_user.name', 'app_user.email', 'app_user.language'])
    .where('membership.workspace_id', '=', workspaceId)
    .where('membership.role', 'in', NOTIFIED_ROLES)
    .where('app_user.disabled_at', 'is', null)
    .orderBy('app_user.id')
    .execute();
}
