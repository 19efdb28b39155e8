import type { IncomingHttpHeaders } from 'node:http';
import { plainLine } from '@stagi/contract/plainText.ts';
import type { Session } from '@stagi/contract/sessions.ts';
import Bowser from 'bowser';

const MOST = 300;

/** The `User-Agent` header as one line that can be stored and shown; null without one. */
export const userAgentOf = (headers: IncomingHttpHeaders): string | null =>
  plainLine(headers['user-agent'] ?? '', MOST) || null;

const KINDS: Record<string, Session['device']['kind']> = { desktop: 'desktop', mobile: 'mobile', tablet: 'tablet' };

/** The device that a `User-Agent` header claims: a hint for the user, no proof. */
export function deviceOf(userAgent: string | null): Session['device'] {
  if (!userAgent?.trim()) return { browser: null, os: null, kind: 'other' };
  const { browser, os, platform } = Bowser.parse(userAgent);
  const major = browser.version?.split('.')[0];
  return {
    browser: browser.name ? [browser.name, major].filter(Boolean).join(' ') : null,
    os: os.name || null,
    kind: KINDS[platform.type ?? ''] ?? 'other',
  };
}
