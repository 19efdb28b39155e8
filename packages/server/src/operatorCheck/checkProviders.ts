import type { Config } from '../config/config.ts';
import type { OpenIdSettings } from '../config/identityProviders.ts';
import { discoverOpenId } from '../identities/openId.ts';
import { type Finding, ok, problem, reasonOf, warning } from './finding.ts';

/** Reads the discovery document of each OpenID provider. That it knows the client is seen at the first login only. */
export function checkProviders({ identityProviders, appOrigin }: Config): Promise<Finding[]> {
  return Promise.all(identityProviders.openId.map((settings) => checkProvider(settings, appOrigin)));
}

async function checkProvider(settings: OpenIdSettings, appOrigin: string): Promise<Finding> {
  const about = `Login with ${settings.name}`;
  try {
    const metadata = (await discoverOpenId(settings)).serverMetadata();
    if (metadata.response_types_supported && !metadata.response_types_supported.includes('code'))
      return problem(about, `${settings.issuer.href} offers no login by a code: choose another provider`);
    if (!metadata.supportsPKCE())
      return warning(
        about,
        `${settings.issuer.href} does not say that it checks PKCE (S256): a stolen code is of more use`,
      );
    return ok(about, `${settings.issuer.href} answers; its client needs the redirect URI ${appOrigin}/auth/openid`);
  } catch (error) {
    return problem(about, `${settings.issuer.href}: ${causeOf(error)}. Check the issuer in OPENID_PROVIDERS`);
  }
}

/** The library wraps what the network or the document said. */
function causeOf(error: unknown): string {
  const { cause } = error as Error;
  return cause instanceof Error ? `${reasonOf(error)} (${reasonOf(cause)})` : reasonOf(error);
}
