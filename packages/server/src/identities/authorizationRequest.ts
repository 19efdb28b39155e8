import { createHash, randomBytes } from 'node:crypto';
import type { IdentityProvider } from '@stagi/contract/identityProviders.ts';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { refused } from '../http/errors.ts';

/** How long a user may take at the provider. */
const REQUEST_MINUTES = 10;

/** An OAuth authorization request to a provider. The browser keeps `state` and `nonce`; the server stores their hashes. */
export interface AuthorizationRequest {
  state: string;
  nonce: string;
  verifier: string;
}

type Ground = Pick<Context, 'db' | 'secrets'>;

/** Stores an authorization request. `sessionId` is set where a signed-in user connects an account, `null` for a sign-in. */
export async function startAuthorizationRequest(
  ctx: Ground,
  provider: IdentityProvider,
  sessionId: string | null,
): Promise<AuthorizationRequest> {
  const request = { state: random(), nonce: random(), verifier: random() };
  const stateHash = hashOf(request.state);
  await ctx.db
    .insertInto('provider_trip')
    .values({
      state_hash: stateHash,
      provider,
      nonce_hash: hashOf(request.nonce),
      verifier_sealed: ctx.secrets.seal(request.verifier, placeOf(stateHash)),
      session_id: sessionId,
      expires_at: sql<Date>`now() + ${`${REQUEST_MINUTES} minutes`}::interval`,
    })
    .execute();
  return request;
}

/**
 * Consumes the request that a callback's `state` names, whether the callback is valid or not. Throws when it is unknown,
 * used or expired, or was for another provider or session. The nonce is checked where the provider signs it.
 */
export async function finishAuthorizationRequest(
  ctx: Ground,
  provider: IdentityProvider,
  returned: { state: string; nonce?: string },
  sessionId: string | null,
): Promise<{ verifier: string }> {
  const stateHash = hashOf(returned.state);
  const request = await ctx.db
    .deleteFrom('provider_trip')
    .where('state_hash', '=', stateHash)
    .where('provider', '=', provider)
    .where('session_id', 'is not distinct from', sessionId)
    .where('expires_at', '>', sql<Date>`now()`)
    .returning(['nonce_hash', 'verifier_sealed'])
    .executeTakeFirst();
  if (!request) throw requestExpired();
  if (returned.nonce !== undefined && !request.nonce_hash.equals(hashOf(returned.nonce))) throw requestExpired();
  return { verifier: ctx.secrets.open(request.verifier_sealed, placeOf(stateHash)) };
}

const requestExpired = () => refused(text('This login has expired or was already used. Try again.'));

const random = (): string => randomBytes(32).toString('base64url');
const hashOf = (value: string): Buffer => createHash('sha256').update(value).digest();
const placeOf = (stateHash: Buffer): string => `provider_trip|verifier|${stateHash.toString('hex')}`;
