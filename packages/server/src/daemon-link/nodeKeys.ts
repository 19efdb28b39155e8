import { createPublicKey } from 'node:crypto';
import {
  type DaemonMessage,
  Ed25519PublicJwk,
  KEY_DAYS,
  KEY_OVERLAP_HOURS,
  LINK_AUDIENCE,
} from '@stagi/contract/daemon.ts';
import { COMMAND_AUDIENCE } from '@stagi/contract/desiredState.ts';
import { text } from '@stagi/contract/text.ts';
import { type JWTPayload, jwtVerify, SignJWT } from 'jose';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { Db } from '../db/schema.ts';
import { recordActivity } from '../instances/activity.ts';

const PROOF_MAX_SECONDS = 120;
/** A server's clock may be off by this much. */
const CLOCK_TOLERANCE_SECONDS = 60;

/** The keys of a node. */
export interface NodeKeys {
  /** The accepted keys, newest first: during a rotation also the previous one. */
  accepted: Ed25519PublicJwk[];
  /** Due for rotation. */
  isOld: boolean;
  revoked: string | null;
}

export async function keysOf(db: Db, instanceId: number): Promise<NodeKeys | null> {
  const row = await db
    .selectFrom('daemon_node')
    .select([
      'public_jwk',
      'revoked_at',
      'revoked_reason',
      sql<Ed25519PublicJwk | null>`case when previous_until > now() then previous_jwk end`.as('previous'),
      sql<boolean>`coalesce(key_since < now() - ${`${KEY_DAYS} days`}::interval, false)`.as('is_old'),
    ])
    .where('instance_id', '=', instanceId)
    .executeTakeFirst();
  if (!row?.public_jwk) return null;
  return {
    accepted: row.previous ? [row.public_jwk, row.previous] : [row.public_jwk],
    isOld: row.is_old,
    revoked: row.revoked_at ? (row.revoked_reason ?? text('This server was removed')) : null,
  };
}

/** The key that signed the answer to a challenge; null when none did. */
export async function findProvingKey(
  keys: readonly Ed25519PublicJwk[],
  answer: { node: string; proof: string },
  nonce: string,
): Promise<Ed25519PublicJwk | null> {
  for (const key of keys) {
    if (await verifyProof(key, answer.proof, { node: answer.node, nonce })) return key;
  }
  return null;
}

/** The payload of a current proof for this node and this challenge; null when it is not valid. */
async function verifyProof(
  key: Ed25519PublicJwk,
  proof: string,
  { node, nonce, typ }: { node: string; nonce: string; typ?: string },
): Promise<JWTPayload | null> {
  try {
    const { payload } = await jwtVerify(proof, createPublicKey({ key, format: 'jwk' }), {
      algorithms: ['EdDSA'],
      audience: LINK_AUDIENCE,
      subject: node,
      requiredClaims: ['exp'],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      ...(typ ? { typ } : {}),
    });
    const tooLong = (payload.exp ?? 0) > Date.now() / 1000 + PROOF_MAX_SECONDS + CLOCK_TOLERANCE_SECONDS;
    return payload.nonce === nonce && !tooLong ? payload : null;
  } catch {
    return null;
  }
}

/**
 * Rotates the key of a connected node; the old key is accepted for another day. Idempotent: the same offer again (its
 * answer was lost) changes nothing. Null when the proofs are not valid.
 */
export async function rotateKey(
  trx: Db,
  { instanceId }: { instanceId: number },
  offer: Pick<Extract<DaemonMessage, { type: 'rotate' }>, 'proof' | 'holder'>,
  nonce: string,
): Promise<string | null> {
  const known = await keysOf(trx, instanceId);
  if (!known || known.revoked) return null;
  const about = { node: String(instanceId), nonce, typ: 'rotate+jwt' };
  const signer = await findSigner(known.accepted, offer.proof, about);
  const jwk = Ed25519PublicJwk.safeParse(signer?.payload.jwk).data;
  if (!signer || !jwk) return null;
  const held = await verifyProof(jwk, offer.holder, about);
  if (Ed25519PublicJwk.safeParse(held?.jwk).data?.x !== jwk.x) return null;
  const newest = known.accepted[0]!;
  if (newest.x === jwk.x) return jwk.x;
  // The previous key may authenticate, but not rotate.
  if (signer.key.x !== newest.x) return null;
  await trx
    .updateTable('daemon_node')
    .set({
      public_jwk: JSON.stringify(jwk),
      key_since: sql<Date>`now()`,
      previous_jwk: JSON.stringify(newest),
      previous_until: sql<Date>`now() + ${`${KEY_OVERLAP_HOURS} hours`}::interval`,
    })
    .where('instance_id', '=', instanceId)
    .execute();
  await recordActivity(trx, instanceId, { kind: 'key replaced' });
  return jwk.x;
}

async function findSigner(keys: readonly Ed25519PublicJwk[], proof: string, about: Parameters<typeof verifyProof>[2]) {
  for (const key of keys) {
    const payload = await verifyProof(key, proof, about);
    if (payload) return { key, payload };
  }
  return null;
}

/** Signs the revocation of a node, so that a daemon can tell it from a forged message. */
export function signRevocation({ keys }: Pick<Context, 'keys'>, node: string): Promise<string> {
  return new SignJWT({ node })
    .setProtectedHeader({ alg: 'EdDSA', typ: 'revoked+jwt' })
    .setAudience(COMMAND_AUDIENCE)
    .setIssuedAt()
    .setExpirationTime('5m')
    .sign(keys.command.privateKey);
}
