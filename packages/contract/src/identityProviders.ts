/** The external identity providers that every platform knows. */
export const IDENTITY_PROVIDERS = ['google', 'github'] as const;
export type KnownProvider = (typeof IDENTITY_PROVIDERS)[number];

/** One of these, or the id of an OpenID provider that the operator has configured. */
export type IdentityProvider = string;

const NAMES: Record<string, string> = { google: 'Google', github: 'GitHub' } satisfies Record<KnownProvider, string>;

export const isKnownProvider = (id: string): id is KnownProvider => IDENTITY_PROVIDERS.some((known) => known === id);

/** The name of a provider; one that is no longer configured has its id alone. */
export const providerName = (id: string, configured: readonly { id: string; name: string }[] = []): string =>
  NAMES[id] ?? configured.find((one) => one.id === id)?.name ?? id;
