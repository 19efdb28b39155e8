import { createPublicKey } from 'node:crypto';
import { crashPoint } from '@stagi/contract/crashPoints.ts';
import { type Ed25519PublicJwk, ENROL_AUDIENCE, EnrolmentClaims, type EnrolRequest } from '@stagi/contract/daemon.ts';
import { text } from '@stagi/contract/text.ts';
import { jwtVerify } from 'jose';
import { sql } from 'kysely';
import type { z } from 'zod';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import { PublicError } from '../http/errors.ts';
import { recordActivity } from '../instances/activity.ts';
import { ENROLMENT_TYPE } from '../nodes/enrolment.ts';

const refuseFile = (message: string): PublicError => new PublicError(403, message);

/**
 * Enrols a node: exchanges an enrolment file for a registered key, once. Idempotent: the same key again gets the same
 * answer, as the first one may have been lost. Any other key is refused and recorded in the server's history.
 */
export async function exchangeEnrolment(
  ctx: Pick<Context, 'db' | 'keys' | 'log'>,
  request: z.infer<typeof EnrolRequest>,
): Promise<string> {
  const claims = await verifyEnrolmentFile(ctx, request.token);
  await verifyKeyProof(request.publicKey, request.proof, claims.jti);
  const instanceId = Number(claims.sub);
  const outcome = await inTransaction(ctx.db, async (trx) => {
    const node = await trx
      .selectFrom('daemon_node')
      .innerJoin('instance', 'instance.id', 'daemon_node.instance_id')
      .select(['enrol_jti', 'enrol_used_at', 'public_jwk', sql<boolean>`enrol_expires_at > now()`.as('in_time')])
      .where('daemon_node.instance_id', '=', instanceId)
      .where('instance.closed_at', 'is', null)
      .forNoKeyUpdate('daemon_node')
      .executeTakeFirst();
    if (!node || node.enrol_jti !== claims.jti || !node.in_time) return 'withdrawn';
    if (node.enrol_used_at) {
      if (node.public_jwk?.x === request.publicKey.x) return 'enrolled';
      await recordActivity(trx, instanceId, {
        kind: 'enrolment refused',
        detail: text('The file was already used'),
      });
      return 'used';
    }
    await trx
      .updateTable('daemon_node')
      .set({
        enrol_used_at: sql<Date>`now()`,
        public_jwk: JSON.stringify(request.publicKey),
        key_since: sql<Date>`now()`,
        previous_jwk: null,
        previous_until: null,
        revoked_at: null,
        revoked_reason: null,
      })
      .where('instance_id', '=', instanceId)
      .execute();
    crashPoint('enrol.stored');
    return 'enrolled';
  });
  crashPoint('enrol.committed');
  if (outcome === 'enrolled') return claims.sub;
  ctx.log.warn({ instanceId, outcome }, 'enrolment refused');
  throw refuseFile(
    outcome === 'used'
      ? text('This enrolment file was already used: create a new one')
      : text('This enrolment file is no longer valid: create a new one'),
  );
}

async function verifyEnrolmentFile({ keys }: Pick<Context, 'keys'>, token: string): Promise<EnrolmentClaims> {
  try {
    const { payload } = await jwtVerify(token, keys.command.publicKey, {
      algorithms: ['EdDSA'],
      typ: ENROLMENT_TYPE,
      audience: ENROL_AUDIENCE,
      requiredClaims: ['sub', 'jti', 'exp'],
    });
    return EnrolmentClaims.parse(payload);
  } catch (cause) {
    throw new PublicError(403, text('This is not a valid enrolment file, or it has expired: create a new one'), {
      cause,
    });
  }
}

/** The daemon must hold the private half of the key that it enrols. */
async function verifyKeyProof(publicKey: Ed25519PublicJwk, proof: string, jti: string): Promise<void> {
  try {
    const key = createPublicKey({ key: publicKey, format: 'jwk' });
    const { payload } = await jwtVerify(proof, key, { algorithms: ['EdDSA'], audience: ENROL_AUDIENCE });
    if (payload.jti !== jti) throw new Error('proof of another enrolment');
  } catch (cause) {
    throw new PublicError(403, text('The proof of the key is not valid'), { cause });
  }
}
