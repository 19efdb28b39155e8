import { matchHostPattern } from '@stagi/contract/hostPattern.ts';

export interface HostRule {
  /** A host name; `{env}` in it stands for one label and may be used in `api`. */
  host: string;
  /** Origin of the API for that host. */
  api: string;
}

/** `VITE_API_HOSTS`: a JSON list of `HostRule`, read when the app is built. */
const HOSTS: readonly HostRule[] = JSON.parse(import.meta.env?.VITE_API_HOSTS ?? '[]');

/** The origin of the API for a host; the page's own origin when no rule names it. */
export function apiOrigin(location: { host: string; origin: string }, rules: readonly HostRule[] = HOSTS): string {
  for (const rule of rules) {
    const env = matchHostPattern(rule.host, location.host);
    if (env !== null) return rule.api.replaceAll('{env}', env);
  }
  return location.origin;
}
