/** RFC 8252 7.3: a native app listens on a loopback port that is chosen when it starts. */
const LOOPBACK = /^(http:\/\/(?:127\.0\.0\.1|\[::1\])):[0-9]{1,5}(?=[/?]|$)/;

/** Exact string comparison (RFC 9700 4.1.3), except for the port of a loopback address. */
export function isRegisteredRedirect(registered: readonly string[], asked: string): boolean {
  return URL.canParse(asked) && registered.some((uri) => withoutPort(uri) === withoutPort(asked));
}

/** Why a redirect URI cannot be registered; `null` if it can. */
export function redirectProblem(uri: string): string | null {
  if (!URL.canParse(uri)) return 'must be a whole address';
  const { protocol, hostname, username, password, href } = new URL(uri);
  if (uri.includes('#')) return 'may have no fragment (RFC 6749 3.1.2)';
  if (username || password) return 'may name no user';
  if (protocol === 'https:') return href === uri || href === `${uri}/` ? null : `must be written as ${href}`;
  if (protocol === 'http:') {
    return ['127.0.0.1', '[::1]', 'localhost'].includes(hostname)
      ? null
      : 'must be https: anybody on the way could read the code';
  }
  // RFC 8252 7.1: a private-use scheme must be a reversed domain name, so that it is not one that browsers handle.
  return /^[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+:$/.test(protocol)
    ? null
    : 'must be https, http on this machine, or a scheme like com.example.app';
}

/** The redirect URI with the response in its query (RFC 6749 4.1.2; `iss`: RFC 9207). */
export function authorizationResponseUrl(redirectUri: string, answer: Record<string, string>): string {
  // As text: a URL object would re-encode the app's own query.
  const separator = redirectUri.includes('?') ? (/[?&]$/.test(redirectUri) ? '' : '&') : '?';
  return redirectUri + separator + new URLSearchParams(answer).toString();
}

const withoutPort = (uri: string): string => uri.replace(LOOPBACK, '$1');
