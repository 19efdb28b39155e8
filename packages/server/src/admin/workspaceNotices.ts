import type { Role } from '@stagi/contract/permissions.ts';
import { sql } from 'kysely';
import { recordForWorkspace } from '../audit/recordForWorkspace.ts';
import type { Db } from '../db/schema.ts';
import type { Receiver } from '../mail/accountMails.ts';
import type { MailText } from '../mail/layout.ts';
import { sendMails } from '../mail/send.ts';
import type { Operator } from '../people/lockedByOperator.ts';

/** A limit, owners first, as all mails are written in one transaction. */
const MAX_NOTIFIED_MEMBERS = 1_000;

/** Mails the members of a workspace whose accounts are enabled; `mailTo` answers null for those who get none. */
export async function notifyMembers(
  ctx: Operator,
  trx: Db,
  workspaceId: number,
  mailTo: (member: Receiver & { role: Role }) => MailText | null,
): Promise<void> {
  const members = await trx
    .selectFrom('membership')
    .innerJoin('app_user', 'app_user.id', 'membership.user_id')
    .select(['app_user.name', 'app_user.email', 'app_user.language', 'membership.role'])
    .where('membership.workspace_id', '=', workspaceId)
    .where('app_user.disabled_at', 'is', null)
    .orderBy(sql`membership.role <> 'Owner'`)
    .orderBy('membership.created_at')
    .orderBy('membership.user_id')
    .limit(MAX_NOTIFIED_MEMBERS)
    .execute();
  await sendMails(
    ctx,
    trx,
    members.flatMap((member) => {
      const mail = mailTo(member);
      return mail ? [{ recipient: member.email, mail }] : [];
    }),
  );
}

export const notifyOwners = (
  ctx: Operator,
  trx: Db,
  workspaceId: number,
  mailTo: (owner: Receiver) => MailText,
): Promise<void> => notifyMembers(ctx, trx, workspaceId, (member) => (member.role === 'Owner' ? mailTo(member) : null));

/** Members see the detail, too. */
export function recordInWorkspace(
  trx: Db,
  action: string,
  { id, name }: { id: number; name: string },
  detail: Record<string, unknown>,
): Promise<void> {
  return recordForWorkspace(trx, id, { action, object: { type: 'client', id: String(id), label: name }, detail });
}
