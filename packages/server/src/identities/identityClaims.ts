import type { IdentityProvider } from '@stagi/contract/identityProviders.ts';

/** The claims of a verified callback. */
export interface ProviderIdentity {
  provider: IdentityProvider;
  /** `issuer` and `subject` identify the account for good; an address may change hands. */
  issuer: string;
  subject: string;
  email: string | null;
  emailVerified: boolean;
  name: string | null;
}
