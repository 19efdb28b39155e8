import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import { announce } from '../bus/bus.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import type { LinkRateLimit } from './linkRateLimit.ts';
import { findProvingKey, keysOf } from './nodeKeys.ts';

/** An authenticated connection of a node. `epoch` numbers the connections: a newer one fences the older ones. */
export interface NodeConnection {
  instanceId: number;
  epoch: number;
}

/**
 * Authenticates a daemon by its answer to the challenge, and gives the connection the next epoch, which fences the one
 * before. `null`: no such key. A revoked key gets the reason, after it was proven. `later`: too many connect now.
 */
export async function connectNode(
  ctx: Pick<Context, 'db'>,
  answer: { node: string; proof: string },
  { nonce, remoteAddress, admit }: { nonce: string; remoteAddress: string; admit: LinkRateLimit['admit'] },
): Promise<(NodeConnection & { rotateKey: boolean }) | { instanceId: number; revoked: string } | 'later' | null> {
  if (!/^[1-9]\d{0,8}$/.test(answer.node)) return null;
  const instanceId = Number(answer.node);
  const known = await keysOf(ctx.db, instanceId);
  const key = known && (await findProvingKey(known.accepted, answer, nonce));
  if (!known || !key) return null;
  if (known.revoked) return { instanceId, revoked: known.revoked };
  if (!(await admit(instanceId))) return 'later';
  // A daemon that uses the previous key has missed the answer to its rotation.
  const rotateKey = known.isOld || key.x !== known.accepted[0]!.x;
  return inTransaction(ctx.db, async (trx) => {
    const counted = await trx
      .updateTable('daemon_node')
      .set({
        conn_epoch: sql<number>`conn_epoch + 1`,
        connected_at: sql<Date>`now()`,
        disconnected_at: null,
        last_seen_at: sql<Date>`now()`,
        remote_address: remoteAddress,
      })
      .where('instance_id', '=', instanceId)
      .where('revoked_at', 'is', null)
      .where(sql<boolean>`${key.x} in (public_jwk->>'x', previous_jwk->>'x')`)
      .returning('conn_epoch')
      .executeTakeFirst();
    if (!counted) return null;
    await announce(trx, 'node', { instanceId });
    return { instanceId, epoch: counted.conn_epoch, rotateKey };
  });
}

/** Renews the lease of a connection: whether its daemon answered another challenge with an accepted key. */
export async function verifyRenewal(
  db: Db,
  { instanceId }: NodeConnection,
  answer: { node: string; proof: string },
  nonce: string,
): Promise<boolean> {
  if (answer.node !== String(instanceId)) return false;
  const known = await keysOf(db, instanceId);
  return known !== null && known.revoked === null && (await findProvingKey(known.accepted, answer, nonce)) !== null;
}

/** Why each of the connections must be closed; `null` for those that may stay. */
export async function findEndedConnections(
  db: Db,
  connections: readonly NodeConnection[],
): Promise<Map<NodeConnection, { revoked: string } | 'fenced' | null>> {
  const rows = await db
    .selectFrom('daemon_node')
    .select(['instance_id', 'conn_epoch', 'revoked_at', 'revoked_reason'])
    .where('instance_id', '=', sql<number>`any(${connections.map(({ instanceId }) => instanceId)}::int[])`)
    .execute();
  const nodes = new Map(rows.map((row) => [row.instance_id, row]));
  const ends = new Map<NodeConnection, { revoked: string } | 'fenced' | null>();
  for (const connection of connections) {
    const node = nodes.get(connection.instanceId);
    if (node?.conn_epoch !== connection.epoch) ends.set(connection, 'fenced');
    else
      ends.set(
        connection,
        node.revoked_at ? { revoked: node.revoked_reason ?? text('This server was removed') } : null,
      );
  }
  return ends;
}

/** Records a disconnect, unless a newer connection has fenced this one. Returns whether it was the newest. */
export async function disconnectNode(db: Db, { instanceId, epoch }: NodeConnection): Promise<boolean> {
  const row = await db
    .updateTable('daemon_node')
    .set({ disconnected_at: sql<Date>`now()` })
    .where('instance_id', '=', instanceId)
    .where('conn_epoch', '=', epoch)
    .returning('instance_id')
    .executeTakeFirst();
  return row !== undefined;
}
