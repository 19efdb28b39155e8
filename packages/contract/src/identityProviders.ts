/** The external identity providers. */
export const IDENTITY_PROVIDERS = ['google', 'github'] as const;
export type IdentityProvider = (typeof IDENTITY_PROVIDERS)[number];

export const PROVIDER_NAMES: Record<IdentityProvider, string> = { google: 'Google', github: 'GitHub' };
