/** RFC 8252 7.3: an app on the user's own machine listens on a port that it learns when it starts. */
const LOOPBACK = /^(http:\/\/(?:127\.0\.0\.1|\[::1\])):[0-9]{1,5}(?=[/?]|$)/;

/** Compared as text, character for character (RFC 9700 4.1.3), but for the port of a loopback address. */
export function isRegisteredRedirect(registered: readonly string[], asked: string): boolean {
  return URL.canParse(asked) && registered.some((uri) => withoutPort(uri) === withoutPort(asked));
}

/** What keeps an address from being registered; `null`: nothing. */
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
  // RFC 8252 7.1: a scheme of the app's own is a reversed domain name, so that no browser knows it.
  return /^[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+:$/.test(protocol)
    ? null
    : 'must be https, http on this machine, or a scheme like com.example.app';
}

/** The redirect address with an answer in its query (RFC 6749 4.1.2; `iss`: RFC 9207). */
export function answerLink(redirectUri: string, answer: Record<string, string>): string {
  // Text, not a URL object: that would write the app's own query anew.
  const separator = redirectUri.includes('?') ? (/[?&]$/.test(redirectUri) ? '' : '&') : '?';
  return redirectUri + separator + new URLSearchParams(answer).toString();
}

const withoutPort = (uri: string): string => uri.replace(LOOPBACK, '$1');
