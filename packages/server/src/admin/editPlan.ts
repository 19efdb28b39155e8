import type { AdminClient } from '@stagi/contract/adminClients.ts';
import { api } from '@stagi/contract/api.ts';
import type { WorkspacePlan } from '@stagi/contract/planLimits.ts';
import { text } from '@stagi/contract/text.ts';
import { announce } from '../bus/bus.ts';
import { inTransaction } from '../db/pool.ts';
import { requireVersion } from '../http/editVersion.ts';
import { refused } from '../http/errors.ts';
import { planChangedMail } from '../mail/operatorMails.ts';
import { lockWorkspace, type Operator } from '../people/lockedByOperator.ts';
import { clientOf, planVersion } from './clients.ts';
import { notifyOwners, recordInWorkspace } from './workspaceNotices.ts';

interface Input extends WorkspacePlan {
  id: number;
  version?: string | undefined;
}

/** Sets the plan and the quotas of a workspace. What is there beyond them stays, as after any downgrade. */
export function editPlan(ctx: Operator, { id, plan, quotas, version }: Input): Promise<AdminClient> {
  return inTransaction(ctx.db, async (trx) => {
    // Joining locks the workspace as well, so that a seat is taken either before or after.
    const client = await lockWorkspace(trx, ctx.user.id, id);
    if (client.deleted_at) throw refused(text('This workspace has been closed'));
    requireVersion(version, planVersion(client));
    await trx
      .updateTable('workspace')
      .set({ plan, quotas: JSON.stringify(quotas) })
      .where('id', '=', client.id)
      .execute();
    await notifyOwners(ctx, trx, client.id, (owner) => planChangedMail(ctx, owner, client.name));
    await recordInWorkspace(trx, api.adminClients.editPlan.path, client, { plan, quotas });
    await announce(trx, 'changed', { entity: 'client', id: client.id, workspaceId: client.id });
    return clientOf({ ...ctx, db: trx }, client.id);
  });
}
