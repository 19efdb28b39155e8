import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config/config.ts';

/** 400 days: browsers keep no cookie longer. */
const KEPT_SECONDS = 400 * 24 * 3600;

/** Identifies a browser that somebody has signed in from. It grants no access: it only gives sign-in attempts a limit of their own. */
export function readKnownBrowserCookie(config: Config, request: FastifyRequest): string | null {
  const pairs = (request.headers.cookie ?? '').split(';').map((pair) => pair.trim());
  const prefix = `${nameOf(config)}=`;
  const value = pairs.find((pair) => pair.startsWith(prefix))?.slice(prefix.length) ?? '';
  return /^[\w-]{43}$/.test(value) ? value : null;
}

export function writeKnownBrowserCookie(config: Config, reply: FastifyReply, browserToken: string): void {
  const secure = isSecure(config) ? '; Secure' : '';
  void reply.header(
    'set-cookie',
    `${nameOf(config)}=${browserToken}; Path=/; Max-Age=${KEPT_SECONDS}; HttpOnly; SameSite=Strict${secure}`,
  );
}

const isSecure = (config: Config): boolean => config.appOrigin.startsWith('https:');
const nameOf = (config: Config): string => (isSecure(config) ? '__Host-stagi-device' : 'stagi-device');
