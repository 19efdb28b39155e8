import { ConfigError } from './configError.ts';
import { isLoopback } from './loopback.ts';

/** The domain on which ports of containers are served, each at `{slug}-{port}.{host}`. */
export interface AppsDomain {
  protocol: 'http:' | 'https:';
  /** With the port, unless it is the scheme's default. */
  host: string;
}

const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const DOMAIN = new RegExp(`^(${LABEL}(?:\\.${LABEL})*)(?::([1-9][0-9]{0,4}))?$`);

/**
 * Containers are untrusted, so they are served on another domain than the platform. Neither may be a subdomain of the
 * other, as it could then set cookies for both. On a loopback origin it is `apps.localhost` unless another is named.
 * Null: ports have no addresses.
 */
export function readAppsDomain(text: string | undefined, appOrigin: string): AppsDomain | null {
  const { protocol, hostname, port: platformPort } = new URL(appOrigin);
  const scheme = protocol === 'https:' ? 'https:' : 'http:';
  if (text === 'off') return null;
  if (!text) {
    if (!isLoopback(hostname)) return null;
    return { protocol: scheme, host: platformPort ? `apps.localhost:${platformPort}` : 'apps.localhost' };
  }
  const [, name = '', port] = DOMAIN.exec(text.toLowerCase()) ?? [];
  if (!name || !/[a-z]/.test(name.slice(name.lastIndexOf('.') + 1)))
    throw new ConfigError('APPS_DOMAIN', `must be a domain like apps.example or apps.example:8443, not "${text}"`);
  if (hostname !== 'localhost' && (isWithin(name, hostname) || isWithin(hostname, name)))
    throw new ConfigError('APPS_DOMAIN', `must be a domain apart from that of APP_ORIGIN, not "${text}"`);
  if (hostname === 'localhost' && name === hostname)
    throw new ConfigError('APPS_DOMAIN', 'must differ from the host of APP_ORIGIN: apps.localhost, for example');
  return { protocol: scheme, host: new URL(`${scheme}//${name}${port ? `:${port}` : ''}`).host };
}

const isWithin = (name: string, outer: string): boolean => name === outer || name.endsWith(`.${outer}`);
