import { sql } from 'kysely';
import { announce } from '../bus/bus.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { keysOf, provenKey } from './keys.ts';

/** A node with a proven key and the number of its newest connection. */
export interface Connected {
  instanceId: number;
  epoch: number;
}

/**
 * Checks a daemon's answer to the challenge and counts the connection; the one before is out of date from then on.
 * `null`: no such key. A key that was revoked is told so, once it has proven itself.
 */
export async function connectNode(
  ctx: Pick<Context, 'db'>,
  answer: { node: string; proof: string },
  nonce: string,
  remoteAddress: string,
): Promise<(Connected & { rotateKey: boolean }) | { instanceId: number; revoked: string } | null> {
  if (!/^[1-9]\d{0,8}$/.test(answer.node)) return null;
  const instanceId = Number(answer.node);
  const known = await keysOf(ctx.db, instanceId);
  const key = known && (await provenKey(known.keys, answer, nonce));
  if (!known || !key) return null;
  if (known.revoked) return { instanceId, revoked: known.revoked };
  // One that comes with the key of before has not heard that its new one was taken over.
  const rotateKey = known.isOld || key.x !== known.keys[0]!.x;
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

/** Whether a connection's daemon still holds a key that is let in: it answered another challenge. */
export async function provesAgain(
  db: Db,
  { instanceId }: Connected,
  answer: { node: string; proof: string },
  nonce: string,
): Promise<boolean> {
  if (answer.node !== String(instanceId)) return false;
  const known = await keysOf(db, instanceId);
  return known !== null && known.revoked === null && (await provenKey(known.keys, answer, nonce)) !== null;
}

/** Why each of the connections may not go on, `null` while it may. */
export async function endsOf(
  db: Db,
  connections: readonly Connected[],
): Promise<Map<Connected, { revoked: string } | 'fenced' | null>> {
  const rows = await db
    .selectFrom('daemon_node')
    .select(['instance_id', 'conn_epoch', 'revoked_at', 'revoked_reason'])
    .where('instance_id', '=', sql<number>`any(${connections.map(({ instanceId }) => instanceId)}::int[])`)
    .execute();
  const nodes = new Map(rows.map((row) => [row.instance_id, row]));
  const ends = new Map<Connected, { revoked: string } | 'fenced' | null>();
  for (const connection of connections) {
    const node = nodes.get(connection.instanceId);
    if (node?.conn_epoch !== connection.epoch) ends.set(connection, 'fenced');
    else ends.set(connection, node.revoked_at ? { revoked: node.revoked_reason ?? 'This server was removed' } : null);
  }
  return ends;
}

/** Notes that a connection is over, unless a newer one has begun. Answers whether it was the newest. */
export async function disconnectNode(db: Db, { instanceId, epoch }: Connected): Promise<boolean> {
  const row = await db
    .updateTable('daemon_node')
    .set({ disconnected_at: sql<Date>`now()` })
    .where('instance_id', '=', instanceId)
    .where('conn_epoch', '=', epoch)
    .returning('instance_id')
    .executeTakeFirst();
  return row !== undefined;
}
