import { cookiesOf, isOwnCookie } from '../containerAccess/cookies.ts';
import { holdsToken, TOKEN_HEADER } from '../containerAccess/token.ts';

/** Of one connection only (RFC 9110, section 7.6.1), and what describes the message's framing. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
]);
/**
 * A client's word about itself in these would be taken for the platform's. `expect` is answered by the platform;
 * `proxy` is the variable HTTP_PROXY to a program that gets headers as variables; trailers are not passed on.
 */
const OF_THE_PLATFORM = /^(?:forwarded|x-forwarded(?:-.*)?|x-real-ip|expect|host|content-length|proxy|trailer)$/;
/** No trailer is about framing, content, cookies, places or rules for browsers (RFC 9110, section 6.5.1). */
const NOT_IN_A_TRAILER =
  /^(?:content-.*|set-cookie2?|clear-site-data|access-control-.*|cross-origin-.*|www-authenticate|proxy-.*|authorization|age|cache-control|expires|date|location|retry-after|vary|warning|strict-transport-security|x-frame-options|x-content-type-options|refresh|link|trailer|host)$/;

/** An answer for the site as a whole, or about other ways to this address: TLS is the platform's own. */
const NOT_FOR_A_CONTAINER = new Set(['alt-svc', 'public-key-pins', 'strict-transport-security']);

export type RawHeaders = string[];

/** The headers that a container gets, in the order and spelling they came in. */
export function requestHeaders(
  raw: RawHeaders,
  { host, protocol, ip, isWebSocket }: { host: string; protocol: string; ip: string; isWebSocket: boolean },
): RawHeaders {
  const named = namedByConnection(raw);
  const headers: RawHeaders = ['Host', host];
  for (const [name, value] of pairs(raw)) {
    const lower = name.toLowerCase();
    const read = asVariable(name);
    if (HOP_BY_HOP.has(read) || named.has(lower) || OF_THE_PLATFORM.test(read) || read === TOKEN_HEADER) continue;
    if (lower === 'authorization' && holdsToken(value)) continue;
    if (lower === 'cookie') {
      const kept = cookiesOf(value).filter((cookie) => !isOwnCookie(cookie.name));
      if (kept.length > 0) headers.push(name, kept.map(({ pair }) => pair).join('; '));
      continue;
    }
    headers.push(name, value);
  }
  headers.push('X-Forwarded-For', ip, 'X-Forwarded-Proto', protocol, 'X-Forwarded-Host', host);
  if (acceptsTrailers(raw)) headers.push('TE', 'trailers');
  if (isWebSocket) headers.push('Connection', 'Upgrade', 'Upgrade', 'websocket');
  return headers;
}

/** The headers of a container's answer that its visitor gets. */
export function responseHeaders(raw: RawHeaders): RawHeaders {
  const named = namedByConnection(raw);
  const headers: RawHeaders = [];
  for (const [name, value] of pairs(raw)) {
    const lower = name.toLowerCase();
    if (HOP_BY_HOP.has(lower) || named.has(lower) || NOT_FOR_A_CONTAINER.has(lower)) continue;
    // It would clear the cookies of all ports: browsers clear those of the whole site.
    if (lower === 'clear-site-data' && /"(?:cookies|\*)"/i.test(value)) continue;
    if (lower !== 'set-cookie') {
      headers.push(name, value);
      continue;
    }
    const cookie = ownCookieOf(value);
    if (cookie !== null) headers.push(name, cookie);
  }
  return headers;
}

/** The trailers of a container's answer that its visitor gets. Those of a request are not passed on. */
export function responseTrailers(raw: RawHeaders): [string, string][] {
  return pairs(raw).filter(([name]) => {
    const lower = name.toLowerCase();
    return !HOP_BY_HOP.has(lower) && !NOT_FOR_A_CONTAINER.has(lower) && !NOT_IN_A_TRAILER.test(lower);
  });
}

/**
 * A header's name as CGI and WSGI tell names apart, which give programs headers as variables: X_Forwarded_For and
 * X-Forwarded-For are one.
 */
const asVariable = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '-');

/** A container's cookie for its own host only; `null` for one with a name of the platform. */
function ownCookieOf(value: string): string | null {
  const [pair = '', ...attributes] = value.split(';');
  // Browsers send a cookie without a name as its bare value, which may look like one with a name.
  if (isOwnCookie(pair.trim().replace(/^[=\s]+/, ''))) return null;
  const kept = attributes.filter((attribute) => !/^\s*domain\s*(?:=|$)/i.test(attribute));
  return [pair, ...kept].join(';');
}

function namedByConnection(raw: RawHeaders): Set<string> {
  const named = new Set<string>();
  for (const [name, value] of pairs(raw)) {
    if (name.toLowerCase() !== 'connection') continue;
    for (const token of value.split(',')) named.add(token.trim().toLowerCase());
  }
  // A client may not have the end-to-end headers of its own request removed by naming them there.
  for (const kept of ['authorization', 'cookie', 'content-type', 'origin']) named.delete(kept);
  return named;
}

function acceptsTrailers(raw: RawHeaders): boolean {
  return pairs(raw).some(([name, value]) => name.toLowerCase() === 'te' && /\btrailers\b/i.test(value));
}

export function pairs(raw: RawHeaders): [string, string][] {
  return Array.from({ length: raw.length / 2 }, (_, index) => [raw[2 * index]!, raw[2 * index + 1]!]);
}
