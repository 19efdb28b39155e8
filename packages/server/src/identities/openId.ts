import { createHash } from 'node:crypto';
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  calculatePKCECodeChallenge,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  None,
  type ServerMetadata,
} from 'openid-client';
import type { OpenIdSettings } from '../config/identityProviders.ts';
import type { Context } from '../context.ts';
import { finishAuthorizationRequest, startAuthorizationRequest } from './authorizationRequest.ts';
import { discoveredClient } from './discoveredClient.ts';
import { notConfigured, rejectedCallback } from './errors.ts';
import type { ProviderIdentity } from './identityClaims.ts';

const TIMEOUT_SECONDS = 8;

/** The operator's OpenID Connect providers: authorization code with PKCE (OpenID Connect Core 1.0, 3.1). */
export async function openIdLink(
  ctx: Context,
  provider: string,
  sessionId: string | null,
): Promise<{ link: string; state: string }> {
  const settings = settingsOf(ctx, provider);
  const client = await clientOf(ctx, settings);
  const { state, verifier } = await startAuthorizationRequest(ctx, provider, sessionId);
  const link = buildAuthorizationUrl(client, {
    redirect_uri: redirectUri(ctx),
    scope: settings.scopes,
    state,
    nonce: nonceOf(verifier),
    code_challenge: await calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  });
  return { link: link.href, state };
}

interface OpenIdCallback {
  code: string;
  state: string;
  iss?: string | undefined;
}

/** Exchanges the code of a callback, and verifies issuer, signature, audience, nonce and expiry of its id token. */
export async function identityFromOpenIdCallback(
  ctx: Context,
  provider: string,
  { code, state, iss }: OpenIdCallback,
  sessionId: string | null,
): Promise<ProviderIdentity> {
  const settings = settingsOf(ctx, provider);
  const { verifier } = await finishAuthorizationRequest(ctx, provider, { state }, sessionId);
  const client = await clientOf(ctx, settings);
  const answer = new URL(redirectUri(ctx));
  answer.search = new URLSearchParams({ code, state, ...(iss !== undefined && { iss }) }).toString();
  try {
    const tokens = await authorizationCodeGrant(client, answer, {
      pkceCodeVerifier: verifier,
      expectedState: state,
      expectedNonce: nonceOf(verifier),
      idTokenExpected: true,
    });
    const claims = tokens.claims()!;
    const { email, email_verified: isVerified, name } = await profileOf(client, tokens.access_token, claims);
    return {
      provider,
      issuer: claims.iss,
      subject: claims.sub,
      email: typeof email === 'string' ? email : null,
      // Some say it as a text.
      emailVerified: isVerified === true || isVerified === 'true' || (settings.trustEmail && isVerified === undefined),
      name: typeof name === 'string' ? name : null,
    };
  } catch (cause) {
    throw rejectedCallback(ctx, provider, cause);
  }
}

interface Profile {
  sub: string;
  email?: unknown;
  email_verified?: unknown;
  name?: unknown;
}

/** Many providers leave the address, or that it is confirmed, out of the token: then it is asked for. */
async function profileOf(client: Configuration, accessToken: string, claims: Profile): Promise<Profile> {
  const isComplete = claims.email !== undefined && claims.email_verified !== undefined;
  if (isComplete || !client.serverMetadata().userinfo_endpoint) return claims;
  const more = (await fetchUserInfo(client, accessToken, claims.sub)) as Profile;
  // An address and its confirmation come from one source.
  const { email, email_verified } = typeof more.email === 'string' ? more : claims;
  return { sub: claims.sub, email, email_verified, name: more.name ?? claims.name };
}

/** Bound to the request's secret, which the browser never sees: so it need not be stored beside it. */
const nonceOf = (verifier: string): string => createHash('sha256').update(`nonce|${verifier}`).digest('base64url');

const redirectUri = ({ config }: Context): string => `${config.appOrigin}/auth/openid`;

function settingsOf(ctx: Context, provider: string): OpenIdSettings {
  const found = ctx.config.identityProviders.openId.find(({ id }) => id === provider);
  if (!found) throw notConfigured(ctx, provider);
  return found;
}

function clientOf(ctx: Context, settings: OpenIdSettings): Promise<Configuration> {
  return discoveredClient(ctx, settings.id, settings, () => discoverOpenId(settings));
}

/** Reads the discovery document of a provider. Throws where it cannot be reached or is of another issuer. */
export async function discoverOpenId({ issuer, clientId, clientSecret }: OpenIdSettings): Promise<Configuration> {
  const isPlain = issuer.protocol === 'http:';
  const found = await discovery(issuer, clientId, {}, None(), {
    timeout: TIMEOUT_SECONDS,
    execute: isPlain ? [allowInsecureRequests] : [],
  });
  const metadata = found.serverMetadata();
  const client = new Configuration(metadata, clientId, {}, authenticationOf(metadata, clientSecret));
  client.timeout = TIMEOUT_SECONDS;
  if (isPlain) allowInsecureRequests(client);
  enableNonRepudiationChecks(client);
  return client;
}

/** By a header where the provider does not name its ways (OpenID Connect Discovery 1.0, section 3). */
function authenticationOf(metadata: ServerMetadata, clientSecret: string | null): ClientAuth {
  if (clientSecret === null) return None();
  const ways = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  return ways.includes('client_secret_basic') ? ClientSecretBasic(clientSecret) : ClientSecretPost(clientSecret);
}
