import { createHash, randomBytes } from 'node:crypto';
import type { IdentityProvider } from '@stagi/contract/identityProviders.ts';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { refused } from '../http/errors.ts';

/** How long somebody may take at the provider. */
const TRIP_MINUTES = 10;

/** What a trip to a provider begins with; the browser keeps `state` and `nonce`, this side their hashes. */
export interface Trip {
  state: string;
  nonce: string;
  verifier: string;
}

type Ground = Pick<Context, 'db' | 'secrets'>;

/** Notes that a browser leaves for a provider; `sessionId` is of who wants to connect rather than to log in. */
export async function beginTrip(ctx: Ground, provider: IdentityProvider, sessionId: string | null): Promise<Trip> {
  const trip = { state: random(), nonce: random(), verifier: random() };
  const stateHash = hashOf(trip.state);
  await ctx.db
    .insertInto('provider_trip')
    .values({
      state_hash: stateHash,
      provider,
      nonce_hash: hashOf(trip.nonce),
      verifier_sealed: ctx.secrets.seal(trip.verifier, placeOf(stateHash)),
      session_id: sessionId,
      expires_at: sql<Date>`now() + ${`${TRIP_MINUTES} minutes`}::interval`,
    })
    .execute();
  return trip;
}

/**
 * Ends a trip, whatever comes of it: a state is good for one return, to who left, for what they left for. Throws when it
 * is unknown, spent or too old. The nonce is only checked where the provider puts it into what it signs.
 */
export async function endTrip(
  ctx: Ground,
  provider: IdentityProvider,
  returned: { state: string; nonce?: string },
  sessionId: string | null,
): Promise<{ verifier: string }> {
  const stateHash = hashOf(returned.state);
  const trip = await ctx.db
    .deleteFrom('provider_trip')
    .where('state_hash', '=', stateHash)
    .where('provider', '=', provider)
    .where('session_id', 'is not distinct from', sessionId)
    .where('expires_at', '>', sql<Date>`now()`)
    .returning(['nonce_hash', 'verifier_sealed'])
    .executeTakeFirst();
  if (!trip) throw tripOver();
  if (returned.nonce !== undefined && !trip.nonce_hash.equals(hashOf(returned.nonce))) throw tripOver();
  return { verifier: ctx.secrets.open(trip.verifier_sealed, placeOf(stateHash)) };
}

const tripOver = () => refused('This login has expired or was used already. Try again.');

const random = (): string => randomBytes(32).toString('base64url');
const hashOf = (value: string): Buffer => createHash('sha256').update(value).digest();
const placeOf = (stateHash: Buffer): string => `provider_trip|verifier|${stateHash.toString('hex')}`;
