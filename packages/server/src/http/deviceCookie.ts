import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config.ts';

/** The longest that browsers keep a cookie. */
const KEPT_SECONDS = 400 * 24 * 3600;

/** The cookie that tells a browser that somebody has signed in from; it opens nothing by itself. */
export function readDevice(config: Config, request: FastifyRequest): string | null {
  const pairs = (request.headers.cookie ?? '').split(';').map((pair) => pair.trim());
  const prefix = `${nameOf(config)}=`;
  const value = pairs.find((pair) => pair.startsWith(prefix))?.slice(prefix.length) ?? '';
  return /^[\w-]{43}$/.test(value) ? value : null;
}

export function writeDevice(config: Config, reply: FastifyReply, device: string): void {
  const secure = isSecure(config) ? '; Secure' : '';
  void reply.header(
    'set-cookie',
    `${nameOf(config)}=${device}; Path=/; Max-Age=${KEPT_SECONDS}; HttpOnly; SameSite=Strict${secure}`,
  );
}

const isSecure = (config: Config): boolean => config.appOrigin.startsWith('https:');
const nameOf = (config: Config): string => (isSecure(config) ? '__Host-stagi-device' : 'stagi-device');
