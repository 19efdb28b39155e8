import { createHash, randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';

const CHALLENGE_MINUTES = 5;

/** What a challenge is for, and which ticket or session it is bound to. */
export type ChallengePurpose =
  | { purpose: 'sign-in' }
  | { purpose: 'second-factor'; ticketHash: Buffer }
  | { purpose: 'step-up' | 'add'; sessionId: string };

export async function issueChallenge(db: Db, asked: ChallengePurpose): Promise<Buffer> {
  const challenge = randomBytes(32);
  await db
    .insertInto('passkey_challenge')
    .values({
      hash: hashOf(challenge.toString('base64url')),
      purpose: asked.purpose,
      session_id: 'sessionId' in asked ? asked.sessionId : null,
      ticket_hash: 'ticketHash' in asked ? asked.ticketHash : null,
      expires_at: sql<Date>`now() + ${`${CHALLENGE_MINUTES} minutes`}::interval`,
    })
    .execute();
  return challenge;
}

/** Consumes the challenge in a passkey's answer, whether the answer is right or not. `null` when it was not issued for this. */
export async function consumeChallenge(
  db: Db,
  clientDataJSON: string,
  asked: ChallengePurpose,
): Promise<string | null> {
  const challenge = challengeIn(clientDataJSON);
  if (challenge === null) return null;
  const sessionId = 'sessionId' in asked ? asked.sessionId : null;
  const ticketHash = 'ticketHash' in asked ? asked.ticketHash : null;
  const taken = await db
    .deleteFrom('passkey_challenge')
    .where('hash', '=', hashOf(challenge))
    .where('purpose', '=', asked.purpose)
    .where('session_id', 'is not distinct from', sessionId)
    .where('ticket_hash', 'is not distinct from', ticketHash)
    .returning(sql<boolean>`expires_at > now()`.as('in_time'))
    .executeTakeFirst();
  return taken?.in_time ? challenge : null;
}

/** The challenge as the browser wrote it. Not verified yet: the signature is checked later. */
function challengeIn(clientDataJSON: string): string | null {
  try {
    const data: unknown = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString('utf8'));
    const challenge = (data as { challenge?: unknown } | null)?.challenge;
    return typeof challenge === 'string' ? challenge : null;
  } catch {
    return null;
  }
}

const hashOf = (challenge: string): Buffer => createHash('sha256').update(challenge).digest();
