import type { IdentityProvider } from '@stagi/contract/identityProviders.ts';

const KEY = 'pendingTrip';

/** Why this tab was redirected to a provider, and what the answer must match. */
export interface PendingProviderLogin {
  provider: IdentityProvider;
  state: string;
  /** For providers that sign it into their token. */
  nonce: string | null;
  purpose: 'log-in' | 'connect';
  returnUrl?: string;
  /** The code of an invitation, for a new account. */
  invite?: string;
}

/** Redirects to the provider. The page it returns to reads what is stored here. */
export function redirectToProvider(link: string, trip: PendingProviderLogin): void {
  sessionStorage.setItem(KEY, JSON.stringify(trip));
  window.location.assign(link);
}

/** The provider that this tab was redirected to last. */
export function pendingProvider(): IdentityProvider | null {
  const stored = JSON.parse(sessionStorage.getItem(KEY) ?? 'null') as Partial<PendingProviderLogin> | null;
  return stored?.provider ?? null;
}

/** Can be taken once. */
export function takePendingProviderLogin(provider: IdentityProvider): PendingProviderLogin | null {
  const stored = JSON.parse(sessionStorage.getItem(KEY) ?? 'null') as Partial<PendingProviderLogin> | null;
  sessionStorage.removeItem(KEY);
  const { state, nonce = null, purpose, returnUrl, invite } = stored ?? {};
  if (stored?.provider !== provider || typeof state !== 'string' || purpose === undefined) return null;
  return { provider, state, nonce, purpose, returnUrl, invite };
}
