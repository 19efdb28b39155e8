import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { Config } from '../config/config.ts';
import { proxyCheck } from './trustedProxies.ts';

export type HostReader = (request: IncomingMessage) => string;

/**
 * Reads the host that a client addressed, with its port, in lower case; '' where it names none. Whatever decides by the
 * host reads it so: two readings of one request could differ.
 *
 * A proxy of `TRUST_PROXY` that rewrites `Host` says in `X-Forwarded-Host` what it was. That counts only where `Host`
 * names this machine by an address, `localhost` or one of `ALLOWED_HOSTS`: a page of another name that resolves to this
 * machine can set the header, but not its own `Host`.
 */
export function createHostReader({
  trustProxy,
  allowedHosts,
}: Pick<Config, 'trustProxy' | 'allowedHosts'>): HostReader {
  const isFromProxy = proxyCheck(trustProxy);
  const isRewritten = (name: string): boolean => isAddress(name) || name === 'localhost' || allowedHosts.includes(name);
  return (request) => {
    const host = (request.headers.host ?? '').toLowerCase();
    const forwarded = request.headers['x-forwarded-host'];
    if (forwarded === undefined || !isRewritten(nameOf(host)) || !isFromProxy(request)) return host;
    return String(forwarded).split(',').at(-1)!.trim().toLowerCase();
  };
}

/** `stagi.example` of `stagi.example:4400`, `[::1]` of `[::1]:4400`. */
export const nameOf = (host: string): string => host.replace(/:\d{1,5}$/, '');

/** An address of IPv4, or of IPv6 in brackets. */
export const isAddress = (name: string): boolean => isIP(name.replace(/^\[|\]$/g, '')) !== 0;
