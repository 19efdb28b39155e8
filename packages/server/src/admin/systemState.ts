import type { SystemState } from '@stagi/contract/adminSystem.ts';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { MAIL_BACKLOG, type MailBacklog } from '../mail/backlog.ts';
import { IS_KNOWN } from '../mail/mailServer.ts';

export async function viewSystem({ db, config }: Pick<Context, 'db' | 'config'>): Promise<SystemState> {
  return { mail: await mailState({ db, config }) };
}

async function mailState({ db, config }: Pick<Context, 'db' | 'config'>): Promise<SystemState['mail']> {
  const { rows } = await sql<{ backlog: MailBacklog }>`select (${MAIL_BACKLOG}) as backlog`.execute(db);
  const backlog = rows[0]!.backlog;
  const unchecked = { reason: null, detail: null, since: null, checkedAt: null, ...backlog };
  if (config.smtpUrl === null) return { state: config.devMail ? 'outbox' : 'none', ...unchecked };
  const server = await db.selectFrom('mail_server').selectAll().where(IS_KNOWN).executeTakeFirst();
  if (!server) return { state: 'unchecked', ...unchecked };
  return {
    state: server.state === 'failing' ? 'failing' : 'working',
    reason: server.reason,
    detail: server.detail,
    since: server.since.toISOString(),
    checkedAt: server.checked_at.toISOString(),
    ...backlog,
  };
}
