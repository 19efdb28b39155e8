import { providerName } from '@stagi/contract/identityProviders.ts';
import type { SiteConfiguration } from '@stagi/contract/site.ts';
import { useSyncExternalStore } from 'react';

const EMPTY: SiteConfiguration = {
  version: '',
  socialLinks: [],
  issueTrackerUrl: null,
  supportEmail: null,
  docsUrl: null,
  tutorialsUrl: null,
  partnerMarketplaceUrl: null,
  operator: { name: null, address: null, date: null },
  banners: [],
  analyticsHosts: [],
  identityProviders: [],
  appsOrigin: null,
  returnUrlAllowList: [],
};

let known: SiteConfiguration | null = null;

/** The operator's configuration of the site, which the server embeds into the page. */
export function site(): SiteConfiguration {
  known ??= read();
  return known;
}

/** The configuration for rendering. Prerendered markup has none, so hydration starts with an empty one. */
export function useSite(): SiteConfiguration {
  return useSyncExternalStore(never, site, () => EMPTY);
}

/** The ids of the identity providers that people can log in with, the operator's own first. */
export const offeredProviders = ({ identityProviders, openIdProviders = [] }: SiteConfiguration): string[] => [
  ...openIdProviders.map(({ id }) => id),
  ...identityProviders,
];

/** The name of an identity provider on this platform. */
export const providerTitle = (id: string): string => providerName(id, site().openIdProviders);

/** True where somebody without an invitation may sign up. */
export function useOffersSignUp(): boolean {
  const { signUp } = useSite();
  return signUp === undefined || signUp.rule === 'domain';
}

const never = () => () => {};

/** The version that the server serves now; null when it cannot be reached. */
export async function fetchServedVersion(): Promise<string | null> {
  try {
    const response = await fetch('/configuration.json', { cache: 'no-store' });
    return response.ok ? ((await response.json()) as SiteConfiguration).version : null;
  } catch {
    // Offline, or the server is being replaced: the next check will tell.
    return null;
  }
}

function read(): SiteConfiguration {
  if (typeof document === 'undefined') return EMPTY;
  return { ...EMPTY, ...JSON.parse(document.getElementById('configuration')?.textContent ?? '{}') };
}
