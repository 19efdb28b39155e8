import type { AdminClient } from '@stagi/contract/adminClients.ts';
import { api } from '@stagi/contract/api.ts';
import type { Role } from '@stagi/contract/permissions.ts';
import { sql } from 'kysely';
import { lockAvailable } from '../billing/spend.ts';
import { announce } from '../bus/bus.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { refused } from '../http/errors.ts';
import { holdServers, shutDown } from '../instances/shutDown.ts';
import type { MailText } from '../mail/layout.ts';
import type { Receiver } from '../mail/letters.ts';
import {
  clientDisabledMail,
  clientEnabledMail,
  memberClientDisabledMail,
  memberClientEnabledMail,
} from '../mail/operatorLetters.ts';
import { sendMails } from '../mail/send.ts';
import { clientOf } from './clients.ts';
import { holdClient, holdUser, type Operator } from './operator.ts';
import { tellWorkspace } from './tellWorkspace.ts';

interface Input {
  id: number;
  reason: string;
  terminate: boolean;
}

/**
 * Shuts a workspace: to its members it is as if it were gone, streams end by the database itself (migration 0008), and
 * what can stop is stopped. Servers that cannot stop run on unless the operator says to terminate them.
 */
export function disableClient(ctx: Operator, { id, reason, terminate }: Input): Promise<AdminClient> {
  return inTransaction(ctx.db, async (trx) => {
    // What is rented or started at this moment is either among what is shut down, or finds the workspace disabled. In the
    // order in which whoever rents and starts takes these.
    await holdServers(trx, id);
    await holdUser(trx, ctx.user.id, ctx.user.id);
    await lockAvailable(trx, id);
    const client = await holdClient(trx, ctx.user.id, id);
    if (client.deleted_at) throw refused('This workspace has been closed');
    if (client.disabled_at) throw refused('This workspace is disabled already');
    await requireAnother(trx, ctx.user.id, client.id);
    await trx
      .updateTable('workspace')
      .set({ disabled_at: sql<Date>`clock_timestamp()`, disabled_reason: reason, disabled_by: ctx.user.id })
      .where('id', '=', client.id)
      .execute();
    await shutDown(ctx, trx, client.id, { terminate });
    await tellMembers(ctx, trx, client.id, (member) =>
      (member.role === 'Owner' ? clientDisabledMail : memberClientDisabledMail)(ctx, member, client.name, reason),
    );
    await tellThere(trx, api.adminClients.disable.path, client, { reason });
    await announce(trx, 'changed', { entity: 'client', id: client.id, workspaceId: client.id });
    return clientOf({ ...ctx, db: trx }, client.id);
  });
}

/** Operators act from a workspace of theirs, whichever it is: without one they could not even open this one again. */
async function requireAnother(trx: Db, operatorId: number, id: number): Promise<void> {
  const { others, isTheirs } = await trx
    .selectFrom('membership')
    .innerJoin('workspace', 'workspace.id', 'membership.workspace_id')
    .select([
      sql<number>`count(*) filter (where workspace.id <> ${id})::int`.as('others'),
      sql<boolean>`coalesce(bool_or(workspace.id = ${id}), false)`.as('isTheirs'),
    ])
    .where('membership.user_id', '=', operatorId)
    .where('workspace.disabled_at', 'is', null)
    .executeTakeFirstOrThrow();
  if (isTheirs && others === 0) throw refused('This is your only workspace: create another one before you disable it');
}

/** Opens it again. What was stopped stays so: to start it costs its members money. */
export function enableClient(ctx: Operator, id: number): Promise<AdminClient> {
  return inTransaction(ctx.db, async (trx) => {
    const client = await holdClient(trx, ctx.user.id, id);
    if (client.deleted_at) throw refused('This workspace has been closed');
    if (!client.disabled_at) throw refused('This workspace is not disabled');
    await trx
      .updateTable('workspace')
      .set({ disabled_at: null, disabled_reason: null, disabled_by: null })
      .where('id', '=', client.id)
      .execute();
    await tellMembers(ctx, trx, client.id, (member) =>
      (member.role === 'Owner' ? clientEnabledMail : memberClientEnabledMail)(ctx, member, client.name),
    );
    await tellThere(trx, api.adminClients.enable.path, client, {});
    return clientOf({ ...ctx, db: trx }, client.id);
  });
}

/** Of more members than these, owners first, the others are told by them: all mails are written in one transaction. */
const TOLD_MEMBERS = 1_000;

async function tellMembers(
  ctx: Operator,
  trx: Db,
  workspaceId: number,
  mailTo: (member: Receiver & { role: Role }) => MailText,
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
    .limit(TOLD_MEMBERS)
    .execute();
  await sendMails(
    ctx,
    trx,
    members.map((member) => ({ recipient: member.email, mail: mailTo(member) })),
  );
}

/** Its members read why, too. */
function tellThere(
  trx: Db,
  action: string,
  { id, name }: { id: number; name: string },
  detail: Record<string, unknown>,
): Promise<void> {
  return tellWorkspace(trx, id, { action, object: { type: 'client', id: String(id), label: name }, detail });
}
