import type { Ref } from '@stagi/contract/page.ts';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { sendCommand } from '../daemon-link/commands.ts';
import { revokeNode } from '../daemon-link/enrolment.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { refused } from '../http/errors.ts';
import { lockInstance } from '../instances/find.ts';
import { moveInstance } from '../instances/status.ts';

type Caller = Context & { user: { id: number }; workspace: { id: number } };

/** How long a daemon that can be reached may take to remove our containers before its key is revoked all the same. */
const FAREWELL = '60 seconds';
/** How long a server that is away may take to come back and be told. */
const AWAY_FOR_GOOD = '30 days';

/**
 * Takes a server out of the workspace. Its daemon is asked to remove our containers, when it comes back if it is
 * away, and keeps its key just for that.
 */
export async function leave(ctx: Caller, ref: Ref): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const row = await lockInstance(trx, ctx.workspace.id, 'self-hosted', ref);
    if (row.closed_at) throw refused('This server was deleted');
    if (await hasKey(trx, row.id)) await sendCommand(ctx, trx, row.id, { kind: 'leave', removeContainers: true });
    else await revokeNode(ctx, trx, row.id, REASON);
    await moveInstance(ctx, trx, row.id, 'deleted', { actorId: ctx.user.id });
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

/** Revokes the keys of deleted servers that had their time to leave. Run every few seconds. */
export async function endFarewells(ctx: Context): Promise<void> {
  const over = await ctx.db
    .selectFrom('instance')
    .innerJoin('daemon_node', 'daemon_node.instance_id', 'instance.id')
    .select('instance.id')
    .where('instance.kind', '=', 'self-hosted')
    .where('instance.closed_at', 'is not', null)
    .where('daemon_node.revoked_at', 'is', null)
    .where(
      sql<boolean>`(last_seen_at > greatest(closed_at, connected_at) + ${FAREWELL}::interval
        or closed_at < now() - ${AWAY_FOR_GOOD}::interval)`,
    )
    .execute();
  for (const { id } of over) await inTransaction(ctx.db, (trx) => revokeNode(ctx, trx, id, REASON));
}
