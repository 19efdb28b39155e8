import type { AdminClient } from '@stagi/contract/adminClients.ts';
import { api } from '@stagi/contract/api.ts';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import { lockAvailableBalance } from '../billing/spendOrder.ts';
import { announce } from '../bus/bus.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { refused } from '../http/errors.ts';
import { resyncAuthorizedKeys } from '../instances/sshAccess.ts';
import { lockServers, stopServers } from '../instances/stopServers.ts';
import {
  clientDisabledMail,
  clientEnabledMail,
  memberClientDisabledMail,
  memberClientEnabledMail,
} from '../mail/operatorMails.ts';
import { lockUser, lockWorkspace, type Operator } from '../people/lockedByOperator.ts';
import { clientOf } from './clients.ts';
import { notifyMembers, recordInWorkspace } from './workspaceNotices.ts';

interface Input {
  id: number;
  reason: string;
  terminate: boolean;
}

/**
 * Disables a workspace: its members can no longer use it, triggers end its open streams (migration 0008), and its servers
 * are stopped. Servers that cannot stop keep running unless the operator chooses to terminate them.
 */
export function disableClient(ctx: Operator, { id, reason, terminate }: Input): Promise<AdminClient> {
  return inTransaction(ctx.db, async (trx) => {
    // With these locks a concurrent rent or start either commits first and is stopped here, or finds the workspace disabled.
    // They are taken in the same order as by renting and starting, to avoid a deadlock.
    await lockServers(trx, id);
    await lockUser(trx, ctx.user.id, ctx.user.id);
    await lockAvailableBalance(trx, id);
    const client = await lockWorkspace(trx, ctx.user.id, id);
    if (client.deleted_at) throw refused(text('This workspace has been closed'));
    if (client.disabled_at) throw refused(text('This workspace is already disabled'));
    await requireAnotherWorkspace(trx, ctx.user.id, client.id);
    await trx
      .updateTable('workspace')
      .set({ disabled_at: sql<Date>`clock_timestamp()`, disabled_reason: reason, disabled_by: ctx.user.id })
      .where('id', '=', client.id)
      .execute();
    await stopServers(ctx, trx, client.id, { terminate });
    await resyncAuthorizedKeys(trx, { workspaceId: client.id });
    await notifyMembers(ctx, trx, client.id, (member) =>
      (member.role === 'Owner' ? clientDisabledMail : memberClientDisabledMail)(ctx, member, client.name, reason),
    );
    await recordInWorkspace(trx, api.adminClients.disable.path, client, { reason });
    await announce(trx, 'changed', { entity: 'client', id: client.id, workspaceId: client.id });
    return clientOf({ ...ctx, db: trx }, client.id);
  });
}

/** Operators need a workspace to make calls: without another one they could not enable this one again. */
async function requireAnotherWorkspace(trx: Db, operatorId: number, id: number): Promise<void> {
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
  if (isTheirs && others === 0)
    throw refused(text('This is your only workspace: create another one before you disable it'));
}

/** Enables a workspace again. Its servers stay stopped, as starting them costs its members money. */
export function enableClient(ctx: Operator, id: number): Promise<AdminClient> {
  return inTransaction(ctx.db, async (trx) => {
    const client = await lockWorkspace(trx, ctx.user.id, id);
    if (client.deleted_at) throw refused(text('This workspace has been closed'));
    if (!client.disabled_at) throw refused(text('This workspace is not disabled'));
    await trx
      .updateTable('workspace')
      .set({ disabled_at: null, disabled_reason: null, disabled_by: null })
      .where('id', '=', client.id)
      .execute();
    await resyncAuthorizedKeys(trx, { workspaceId: client.id });
    await notifyMembers(ctx, trx, client.id, (member) =>
      (member.role === 'Owner' ? clientEnabledMail : memberClientEnabledMail)(ctx, member, client.name),
    );
    await recordInWorkspace(trx, api.adminClients.enable.path, client, {});
    return clientOf({ ...ctx, db: trx }, client.id);
  });
}
