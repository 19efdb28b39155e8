import { IDENTITY_PROVIDERS, type IdentityProvider } from '@stagi/contract/identityProviders.ts';
import { ConfigError } from './configError.ts';
import { isLoopback } from './loopback.ts';

/** An OpenID Connect provider; endpoints and keys are read from the issuer's discovery document. */
export interface GoogleSettings {
  issuer: URL;
  clientId: string;
}
export interface GithubSettings {
  /** Where people log in; also the issuer of their identities. */
  url: URL;
  apiUrl: URL;
  clientId: string;
  clientSecret: string;
}
/** Each is `null` where it is not configured: then it is not offered. */
export interface IdentityProviders {
  google: GoogleSettings | null;
  github: GithubSettings | null;
}

type Environment = Record<string, string | undefined>;

/** From `GOOGLE_CLIENT_ID`, `GOOGLE_ISSUER`, `GITHUB_CLIENT_ID`, `GITHUB_CLIENT_SECRET`, `GITHUB_URL` and `GITHUB_API_URL`. */
export function readIdentityProviders(env: Environment): IdentityProviders {
  return { google: google(env), github: github(env) };
}

export function configuredProviders(providers: IdentityProviders): IdentityProvider[] {
  return IDENTITY_PROVIDERS.filter((provider) => providers[provider] !== null);
}

function google(env: Environment): GoogleSettings | null {
  const clientId = env.GOOGLE_CLIENT_ID;
  if (!clientId) return null;
  return { clientId, issuer: address(env, 'GOOGLE_ISSUER', 'https://accounts.google.com') };
}

function github(env: Environment): GithubSettings | null {
  const clientId = env.GITHUB_CLIENT_ID;
  if (!clientId) return null;
  const clientSecret = env.GITHUB_CLIENT_SECRET;
  if (!clientSecret) throw new ConfigError('GITHUB_CLIENT_SECRET', 'must be set with GITHUB_CLIENT_ID');
  const url = address(env, 'GITHUB_URL', 'https://github.com');
  // GitHub Enterprise Server has its API below its own address.
  const apiUrl = env.GITHUB_URL ? new URL('/api/v3', url).href : 'https://api.github.com';
  return { clientId, clientSecret, url, apiUrl: address(env, 'GITHUB_API_URL', apiUrl) };
}

/** Must be HTTPS or loopback, as secrets and identities pass over it. */
function address(env: Environment, name: string, fallback: string): URL {
  const text = env[name] || fallback;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !(url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))))
    throw new ConfigError(name, `must be an address like https://accounts.example, not "${text}"`);
  return url;
}
