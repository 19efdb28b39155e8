import {
  allowInsecureRequests,
  buildAuthorizationUrl,
  type Configuration,
  discovery,
  implicitAuthentication,
  None,
  useIdTokenResponseType,
} from 'openid-client';
import type { Context } from '../context.ts';
import type { GoogleSettings } from '../identityProviders.ts';
import { missing, silent, unproven } from './providerErrors.ts';
import { beginTrip, endTrip } from './providerTrip.ts';
import type { ShownIdentity } from './shownIdentity.ts';

/** Google answers with an id token in the hash of /sign-in, so that it passes no server but its own and ours. */
export async function googleLink(
  ctx: Context,
  sessionId: string | null,
): Promise<{ link: string; state: string; nonce: string }> {
  const settings = settingsOf(ctx);
  const client = await clientOf(ctx, settings);
  const { state, nonce } = await beginTrip(ctx, 'google', sessionId);
  const link = buildAuthorizationUrl(client, {
    redirect_uri: redirectUri(ctx),
    scope: 'openid email profile',
    state,
    nonce,
  });
  return { link: link.href, state, nonce };
}

/** Who Google says it is: the token is of its issuer, signed by its keys, for us, for this trip and not expired. */
export async function googleIdentity(
  ctx: Context,
  returned: { token: string; state: string; nonce: string },
  sessionId: string | null,
): Promise<ShownIdentity> {
  const settings = settingsOf(ctx);
  await endTrip(ctx, 'google', returned, sessionId);
  const client = await clientOf(ctx, settings);
  const answer = new URL(redirectUri(ctx));
  answer.hash = new URLSearchParams({ id_token: returned.token, state: returned.state }).toString();
  const claims = await implicitAuthentication(client, answer, returned.nonce, { expectedState: returned.state }).catch(
    (cause: unknown) => {
      throw unproven(ctx, 'google', cause);
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

function settingsOf({ config }: Context): GoogleSettings {
  if (!config.identityProviders.google) throw missing('google');
  return config.identityProviders.google;
}

const clients = new WeakMap<GoogleSettings, Promise<Configuration>>();

/** Reads the issuer's description once; its keys are read again when it signs with a new one. */
async function clientOf(ctx: Context, settings: GoogleSettings): Promise<Configuration> {
  let client = clients.get(settings);
  if (!client) {
    const { issuer, clientId } = settings;
    client = discovery(issuer, clientId, { id_token_signed_response_alg: 'RS256' }, None(), {
      timeout: 8,
      execute: issuer.protocol === 'http:' ? [useIdTokenResponseType, allowInsecureRequests] : [useIdTokenResponseType],
    });
    clients.set(settings, client);
  }
  try {
    return await client;
  } catch (cause) {
    clients.delete(settings);
    throw silent(ctx, 'google', cause);
  }
}
