import type { Ref } from '@stagi/contract/page.ts';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { refused } from '../http/errors.ts';
import { lockInstance } from '../instances/find.ts';
import { transitionInstance } from '../instances/status.ts';
import { sendCommand } from '../nodes/commands.ts';
import { revokeNode } from '../nodes/enrolment.ts';

type Caller = Context & { user: { id: number }; workspace: { id: number } };

/** After this long a connected daemon's key is revoked, whether or not it has removed our containers. */
const LEAVE_TIMEOUT = '60 seconds';
/** The same for a daemon that is offline: it may reconnect and get the command. */
const OFFLINE_LEAVE_TIMEOUT = '30 days';

/**
 * Deletes a self-hosted server. Its daemon is asked to remove our containers, when it reconnects if it is offline, and
 * keeps its key only for that.
 */
export async function deleteSelfHosted(ctx: Caller, ref: Ref): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const row = await lockInstance(trx, ctx.workspace.id, 'self-hosted', ref);
    if (row.closed_at) throw refused(text('This server was deleted'));
    if (await hasKey(trx, row.id)) await sendCommand(ctx, trx, row.id, { kind: 'leave', removeContainers: true });
    else await revokeNode(ctx, trx, row.id, REASON);
    await transitionInstance(ctx, trx, row.id, 'deleted', { actorId: ctx.user.id });
  });
}

const REASON = 'The server was deleted';

async function hasKey(trx: Db, instanceId: number): Promise<boolean> {
  const node = await trx
    .selectFrom('daemon_node')
    .select('instance_id')
    .where('instance_id', '=', instanceId)
    .where('public_jwk', 'is not', null)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  return node !== undefined;
}

/** Revokes the keys of deleted servers whose timeout has passed. */
export async function revokeKeysOfDeleted(ctx: Context): Promise<void> {
  const expired = await ctx.db
    .selectFrom('instance')
    .innerJoin('daemon_node', 'daemon_node.instance_id', 'instance.id')
    .select('instance.id')
    .where('instance.kind', '=', 'self-hosted')
    .where('instance.closed_at', 'is not', null)
    .where('daemon_node.revoked_at', 'is', null)
    .where(
      sql<boolean>`(last_seen_at > greatest(closed_at, connected_at) + ${LEAVE_TIMEOUT}::interval
        or closed_at < now() - ${OFFLINE_LEAVE_TIMEOUT}::interval)`,
    )
    .execute();
  for (const { id } of expired) await inTransaction(ctx.db, (trx) => revokeNode(ctx, trx, id, REASON));
}
