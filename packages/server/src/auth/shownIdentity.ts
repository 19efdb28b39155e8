import type { IdentityProvider } from '@stagi/contract/identityProviders.ts';

/** Who a provider has just said somebody is. */
export interface ShownIdentity {
  provider: IdentityProvider;
  /** Together they name the account for ever; an address may change hands. */
  issuer: string;
  subject: string;
  email: string | null;
  emailVerified: boolean;
  name: string | null;
}
