import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  ClientSecretPost,
  Configuration,
  calculatePKCECodeChallenge,
  fetchProtectedResource,
} from 'openid-client';
import { z } from 'zod';
import type { GithubSettings } from '../config/identityProviders.ts';
import type { Context } from '../context.ts';
import { finishAuthorizationRequest, startAuthorizationRequest } from './authorizationRequest.ts';
import { notConfigured, rejectedCallback } from './errors.ts';
import type { ProviderIdentity } from './identityClaims.ts';

const User = z.object({ id: z.int().positive(), login: z.string(), name: z.string().nullish() });
const Emails = z.array(z.object({ email: z.string(), primary: z.boolean(), verified: z.boolean() }));

/** GitHub offers OAuth 2 without OpenID Connect: the callback has a code, and its API tells the user. */
export async function githubLink(ctx: Context, sessionId: string | null): Promise<{ link: string; state: string }> {
  const settings = settingsOf(ctx);
  const { state, verifier } = await startAuthorizationRequest(ctx, 'github', sessionId);
  const link = buildAuthorizationUrl(clientOf(settings), {
    redirect_uri: redirectUri(ctx),
    scope: 'read:user user:email',
    state,
    // PKCE: a stolen code cannot be exchanged with the verifier of another request.
    code_challenge: await calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  });
  return { link: link.href, state };
}

export async function identityFromGithubCallback(
  ctx: Context,
  returned: { code: string; state: string },
  sessionId: string | null,
): Promise<ProviderIdentity> {
  const settings = settingsOf(ctx);
  const { verifier } = await finishAuthorizationRequest(ctx, 'github', { state: returned.state }, sessionId);
  const answer = new URL(redirectUri(ctx));
  answer.search = new URLSearchParams({ code: returned.code, state: returned.state }).toString();
  try {
    const client = clientOf(settings);
    const { access_token: token } = await authorizationCodeGrant(client, answer, {
      pkceCodeVerifier: verifier,
      expectedState: returned.state,
    });
    const [user, emails] = await Promise.all([
      ask(client, settings, token, '/user', User),
      ask(client, settings, token, '/user/emails', Emails),
    ]);
    const primary = emails.find((email) => email.primary);
    return {
      provider: 'github',
      issuer: settings.url.origin,
      // The id, as a login name can be released and taken by somebody else.
      subject: String(user.id),
      email: primary?.email ?? null,
      emailVerified: primary?.verified === true,
      name: user.name?.trim() || user.login,
    };
  } catch (cause) {
    throw rejectedCallback(ctx, 'github', cause);
  }
}

const redirectUri = ({ config }: Context): string => `${config.appOrigin}/auth/github`;

function settingsOf(ctx: Context): GithubSettings {
  const { config } = ctx;
  if (!config.identityProviders.github) throw notConfigured(ctx, 'github');
  return config.identityProviders.github;
}

function clientOf({ url, clientId, clientSecret }: GithubSettings): Configuration {
  const server = {
    issuer: url.origin,
    authorization_endpoint: new URL('/login/oauth/authorize', url).href,
    token_endpoint: new URL('/login/oauth/access_token', url).href,
  };
  const client = new Configuration(server, clientId, {}, ClientSecretPost(clientSecret));
  client.timeout = 8;
  if (url.protocol === 'http:') allowInsecureRequests(client);
  return client;
}

async function ask<Shape extends z.ZodType>(
  client: Configuration,
  { apiUrl }: GithubSettings,
  token: string,
  path: string,
  shape: Shape,
): Promise<z.output<Shape>> {
  const url = new URL(apiUrl.pathname.replace(/\/$/, '') + path, apiUrl);
  const headers = new Headers({ accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' });
  const response = await fetchProtectedResource(client, token, url, 'GET', null, headers);
  if (!response.ok) throw new Error(`${path} answers ${response.status}`);
  return shape.parse(await response.json());
}
