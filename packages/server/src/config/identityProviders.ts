import { IDENTITY_PROVIDERS, type KnownProvider, providerName } from '@stagi/contract/identityProviders.ts';
import { isPlainLine } from '@stagi/contract/plainText.ts';
import { ProviderId } from '@stagi/contract/providerId.ts';
import { z } from 'zod';
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
/** An OpenID Connect provider of the operator, which is asked by authorization code with PKCE. */
export interface OpenIdSettings {
  id: string;
  /** On the button: “Continue with …”. */
  name: string;
  issuer: URL;
  clientId: string;
  /** `null`: a public client. */
  clientSecret: string | null;
  scopes: string;
  /** Its addresses are taken as confirmed, though it does not say so. */
  trustEmail: boolean;
}
/** Each is `null` where it is not configured: then it is not offered. */
export interface IdentityProviders {
  google: GoogleSettings | null;
  github: GithubSettings | null;
  openId: readonly OpenIdSettings[];
  /** Nobody logs in with a password. */
  isPasswordOff: boolean;
}

type Environment = Record<string, string | undefined>;

/**
 * From `GOOGLE_CLIENT_ID`, `GOOGLE_ISSUER`, `GITHUB_CLIENT_ID`, `GITHUB_CLIENT_SECRET`, `GITHUB_URL`, `GITHUB_API_URL`,
 * `OPENID_PROVIDERS` and `PASSWORD_SIGN_IN`.
 */
export function readIdentityProviders(env: Environment): IdentityProviders {
  const providers = { google: google(env), github: github(env), openId: openId(env) };
  const isPasswordOff = readPasswordSignIn(env) === 'off';
  if (isPasswordOff && !providers.google && !providers.github && providers.openId.length === 0)
    throw new ConfigError('PASSWORD_SIGN_IN', 'may be off only where people log in otherwise: set OPENID_PROVIDERS');
  return { ...providers, isPasswordOff };
}

function readPasswordSignIn(env: Environment): 'on' | 'off' {
  const text = env.PASSWORD_SIGN_IN || 'on';
  if (text !== 'on' && text !== 'off') throw new ConfigError('PASSWORD_SIGN_IN', `must be on or off, not "${text}"`);
  return text;
}

export const nameOfProvider = ({ openId }: Pick<IdentityProviders, 'openId'>, id: string): string =>
  providerName(id, openId);

/** People can log in with an identity of this provider and issuer now. */
export function isConfigured(
  { google, github, openId }: Omit<IdentityProviders, 'isPasswordOff'>,
  identity: { provider: string; issuer: string },
): boolean {
  const { provider, issuer } = identity;
  if (provider === 'github') return github?.url.origin === issuer;
  const settings = provider === 'google' ? google : openId.find(({ id }) => id === provider);
  return settings ? URL.canParse(issuer) && new URL(issuer).href === settings.issuer.href : false;
}

export function configuredProviders(providers: IdentityProviders): KnownProvider[] {
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

const NAME_MOST = 40;
const PROVIDERS_MOST = 10;
/** Words that name other ways to log in. */
const TAKEN_IDS = ['email', 'password', 'passkey', ...IDENTITY_PROVIDERS];

const OpenIdEntry = z.strictObject({
  id: ProviderId.refine((id) => !TAKEN_IDS.includes(id), 'is the name of another way to log in'),
  name: z.string().trim().min(1).max(NAME_MOST).refine(isPlainLine),
  issuer: z.string().refine(isIssuer, 'must be an address like https://accounts.example'),
  clientId: z.string().min(1).max(200),
  clientSecret: z.string().min(1).max(1_000).optional(),
  scopes: z
    .string()
    .regex(/(^| )openid( |$)/, 'must contain openid')
    .default('openid email profile'),
  trustEmail: z.boolean().default(false),
});

function openId(env: Environment): OpenIdSettings[] {
  const text = env.OPENID_PROVIDERS;
  if (!text) return [];
  const read = z.array(OpenIdEntry).max(PROVIDERS_MOST).safeParse(jsonOf(text));
  // The error names what is wrong, not the value: an entry holds a secret.
  if (!read.success) throw new ConfigError('OPENID_PROVIDERS', `cannot be used: ${z.prettifyError(read.error)}`);
  for (const key of ['id', 'issuer'] as const) {
    const values = read.data.map((entry) => entry[key]);
    const twice = values.find((value, n) => values.indexOf(value) !== n);
    if (twice !== undefined) throw new ConfigError('OPENID_PROVIDERS', `has two entries with the ${key} "${twice}"`);
  }
  return read.data.map(({ issuer, clientSecret = null, ...entry }) => ({
    ...entry,
    issuer: new URL(issuer),
    clientSecret,
  }));
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ConfigError('OPENID_PROVIDERS', 'must be a JSON list');
  }
}

function address(env: Environment, name: string, fallback: string): URL {
  const text = env[name] || fallback;
  if (!isSafeAddress(text))
    throw new ConfigError(name, `must be an address like https://accounts.example, not "${text}"`);
  return new URL(text);
}

/** Without query and fragment (OpenID Connect Discovery 1.0, section 2). */
function isIssuer(text: string): boolean {
  if (!isSafeAddress(text)) return false;
  const { username, password, search, hash } = new URL(text);
  return !(username || password || search || hash);
}

/** HTTPS or loopback, as secrets and identities pass over it. */
function isSafeAddress(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : null;
  return url !== null && (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname)));
}
