import type { Config } from '../config/config.ts';

type Site = Pick<Config, 'appsDomain'>;

/** Browsers let no other host, such as that of another port, set or read a `__Host-` cookie. */
export const cookieName = (config: Site, name: string): string => (isSecure(config) ? `__Host-${name}` : name);

export function setCookie(config: Site, name: string, value: string, seconds: number): string {
  const secure = isSecure(config) ? '; Secure' : '';
  return `${cookieName(config, name)}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`;
}

/** The cookies whose names begin so. A name that comes twice is left out: another host has set one of them. */
export function cookiesNamed(config: Site, beginning: string, header: string | undefined): Map<string, string> {
  const shown = new Map<string, string>();
  const twice = new Set<string>();
  for (const pair of (header ?? '').split(';')) {
    const [, name = '', value = ''] = /^\s*([^=\s]+)=(.*?)\s*$/.exec(pair) ?? [];
    if (!name.startsWith(cookieName(config, beginning))) continue;
    if (shown.has(name)) twice.add(name);
    shown.set(name, value);
  }
  for (const name of twice) shown.delete(name);
  return shown;
}

const isSecure = ({ appsDomain }: Site): boolean => appsDomain?.protocol === 'https:';
