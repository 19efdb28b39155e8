import { createPublicKey } from 'node:crypto';
import { LINK_AUDIENCE } from '@stagi/contract/daemon.ts';
import { jwtVerify } from 'jose';
import { sql } from 'kysely';
import { announce } from '../bus/bus.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';

const PROOF_MAX_SECONDS = 120;
/** A server's clock may be off by this much. */
const CLOCK_TOLERANCE_SECONDS = 60;

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
): Promise<Connected | { revoked: string } | null> {
  if (!/^[1-9]\d{0,8}$/.test(answer.node)) return null;
  const instanceId = Number(answer.node);
  const node = await ctx.db
    .selectFrom('daemon_node')
    .select(['public_jwk', 'revoked_at', 'revoked_reason'])
    .where('instance_id', '=', instanceId)
    .executeTakeFirst();
  if (!node?.public_jwk || !(await proves(node.public_jwk, answer, nonce))) return null;
  if (node.revoked_at) return { revoked: node.revoked_reason ?? 'This server was removed' };
  const key = node.public_jwk.x;
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
      .where(sql<boolean>`public_jwk->>'x' = ${key}`)
      .returning('conn_epoch')
      .executeTakeFirst();
    if (!counted) return null;
    await announce(trx, 'node', { instanceId });
    return { instanceId, epoch: counted.conn_epoch };
  });
}

async function proves(
  publicJwk: { x: string },
  { node, proof }: { node: string; proof: string },
  nonce: string,
): Promise<boolean> {
  try {
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: publicJwk.x }, format: 'jwk' });
    const { payload } = await jwtVerify(proof, key, {
      algorithms: ['EdDSA'],
      audience: LINK_AUDIENCE,
      subject: node,
      requiredClaims: ['exp'],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
    });
    const tooLong = (payload.exp ?? 0) > Date.now() / 1000 + PROOF_MAX_SECONDS + CLOCK_TOLERANCE_SECONDS;
    return payload.nonce === nonce && !tooLong;
  } catch {
    // Whatever is wrong with a proof, it proves nothing.
    return false;
  }
}

/** Why a connection may not go on, `null` while it may. */
export async function endOf(db: Db, { instanceId, epoch }: Connected): Promise<{ revoked: string } | 'fenced' | null> {
  const node = await db
    .selectFrom('daemon_node')
    .select(['conn_epoch', 'revoked_at', 'revoked_reason'])
    .where('instance_id', '=', instanceId)
    .executeTakeFirst();
  if (node?.conn_epoch !== epoch) return 'fenced';
  return node.revoked_at ? { revoked: node.revoked_reason ?? 'This server was removed' } : null;
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
