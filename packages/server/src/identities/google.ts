import {
  allowInsecureRequests,
  buildAuthorizationUrl,
  type Configuration,
  discovery,
  implicitAuthentication,
  None,
  useIdTokenResponseType,
} from 'openid-client';
import type { GoogleSettings } from '../config/identityProviders.ts';
import type { Context } from '../context.ts';
import { finishAuthorizationRequest, startAuthorizationRequest } from './authorizationRequest.ts';
import { discoveredClient } from './discoveredClient.ts';
import { notConfigured, rejectedCallback } from './errors.ts';
import type { ProviderIdentity } from './identityClaims.ts';

/** Google's callback has an id token in the hash of /sign-in, so that no server in between sees it. */
export async function googleLink(
  ctx: Context,
  sessionId: string | null,
): Promise<{ link: string; state: string; nonce: string }> {
  const settings = settingsOf(ctx);
  const client = await clientOf(ctx, settings);
  const { state, nonce } = await startAuthorizationRequest(ctx, 'google', sessionId);
  const link = buildAuthorizationUrl(client, {
    redirect_uri: redirectUri(ctx),
    scope: 'openid email profile',
    state,
    nonce,
  });
  return { link: link.href, state, nonce };
}

/** Verifies the id token of a callback: issuer, signature, audience, state, nonce and expiry. */
export async function identityFromGoogleCallback(
  ctx: Context,
  returned: { token: string; state: string; nonce: string },
  sessionId: string | null,
): Promise<ProviderIdentity> {
  const settings = settingsOf(ctx);
  await finishAuthorizationRequest(ctx, 'google', returned, sessionId);
  const client = await clientOf(ctx, settings);
  const answer = new URL(redirectUri(ctx));
  answer.hash = new URLSearchParams({ id_token: returned.token, state: returned.state }).toString();
  const claims = await implicitAuthentication(client, answer, returned.nonce, { expectedState: returned.state }).catch(
    (cause: unknown) => {
      throw rejectedCallback(ctx, 'google', cause);
    },
  );
  return {
    provider: 'google',
    issuer: claims.iss,
    subject: claims.sub,
    email: typeof claims.email === 'string' ? claims.email : null,
    emailVerified: claims.email_verified === true,
    name: typeof claims.name === 'string' ? claims.name : null,
  };
}

const redirectUri = ({ config }: Context): string => `${config.appOrigin}/sign-in`;

function settingsOf(ctx: Context): GoogleSettings {
  const { config } = ctx;
  if (!config.identityProviders.google) throw notConfigured(ctx, 'google');
  return config.identityProviders.google;
}

function clientOf(ctx: Context, settings: GoogleSettings): Promise<Configuration> {
  const { issuer, clientId } = settings;
  return discoveredClient(ctx, 'google', settings, () =>
    discovery(issuer, clientId, { id_token_signed_response_alg: 'RS256' }, None(), {
      timeout: 8,
      execute: issuer.protocol === 'http:' ? [useIdTokenResponseType, allowInsecureRequests] : [useIdTokenResponseType],
    }),
  );
}
