import type { IdentityProvider } from '@stagi/contract/identityProviders.ts';

const KEY = 'pendingTrip';

/** Why this tab went to a provider, and what must come back with it: another's answer is none of ours. */
export interface PendingTrip {
  provider: IdentityProvider;
  state: string;
  /** Where the provider signs it along. */
  nonce: string | null;
  purpose: 'log-in' | 'connect';
  returnUrl?: string;
}

/** Leaves for the provider; the page that it comes back to goes on from here. */
export function leaveForProvider(link: string, trip: PendingTrip): void {
  sessionStorage.setItem(KEY, JSON.stringify(trip));
  window.location.assign(link);
}

/** Good for one return. */
export function takeTrip(provider: IdentityProvider): PendingTrip | null {
  const stored = JSON.parse(sessionStorage.getItem(KEY) ?? 'null') as Partial<PendingTrip> | null;
  sessionStorage.removeItem(KEY);
  const { state, nonce = null, purpose, returnUrl } = stored ?? {};
  if (stored?.provider !== provider || typeof state !== 'string' || purpose === undefined) return null;
  return { provider, state, nonce, purpose, returnUrl };
}
