import type { SiteConfiguration } from '@stagi/contract/site.ts';
import { useSyncExternalStore } from 'react';

const EMPTY: SiteConfiguration = {
  version: '',
  socialLinks: [],
  issueTrackerUrl: null,
  supportEmail: null,
  banners: [],
  analyticsHosts: [],
  identityProviders: [],
};

let known: SiteConfiguration | null = null;

/** What the operator of this host shows around the product; the server wrote it into the page. */
export function site(): SiteConfiguration {
  known ??= read();
  return known;
}

/** The same for what is drawn: a page that was drawn ahead knows nothing of its operator, and is taken over so. */
export function useSite(): SiteConfiguration {
  return useSyncExternalStore(never, site, () => EMPTY);
}

const never = () => () => {};

/** The version that the server gives to who opens the app now; null when it cannot be asked. */
export async function servedVersion(): Promise<string | null> {
  try {
    const response = await fetch('/configuration.json', { cache: 'no-store' });
    return response.ok ? ((await response.json()) as SiteConfiguration).version : null;
  } catch {
    // Offline, or the server is being replaced: the next look will tell.
    return null;
  }
}

function read(): SiteConfiguration {
  if (typeof document === 'undefined') return EMPTY;
  return { ...EMPTY, ...JSON.parse(document.getElementById('configuration')?.textContent ?? '{}') };
}
