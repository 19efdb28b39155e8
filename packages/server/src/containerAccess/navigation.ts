import type { IncomingHttpHeaders } from 'node:http';

interface Asked {
  method: string;
  headers: IncomingHttpHeaders;
}

const reads = (method: string): boolean => method === 'GET' || method === 'HEAD';

/** Whether the request is a navigation: only that can be redirected to a login. */
export const opensPage = ({ method, headers }: Asked): boolean =>
  reads(method) && (headers.accept ?? '').includes('text/html');

/**
 * Whether a request with the cookie of this origin may come from where it comes from. A page of another port is of the
 * same site, so `SameSite` does not hold its requests back:
 * - what is no GET, and WebSockets, need exactly this origin;
 * - a GET of another page only opens a page of its own (a link), so that nobody can embed or read what is here.
 *
 * Browsers send the headers `Sec-Fetch-…` (W3C Fetch Metadata) with HTTPS and at localhost. Without them a GET that names
 * another origin is refused.
 */
export function mayUseCookie({ method, headers }: Asked, origin: string, isWebSocket: boolean): boolean {
  if (!reads(method) || isWebSocket) return headers.origin === origin;
  const site = headers['sec-fetch-site'];
  if (site === undefined) return headers.origin === undefined || headers.origin === origin;
  if (site === 'same-origin' || site === 'none') return true;
  return headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
}
