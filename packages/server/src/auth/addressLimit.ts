import { isIPv6 } from 'node:net';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import type { Config } from '../config.ts';
import { takePoint } from '../http/takePoint.ts';

/** A page that is opened asks for a challenge by itself; only an answer to it is a try. */
const CHALLENGES_PER_VISIT = 10;

const visits = new WeakMap<Config, RateLimiterMemory>();
const challenges = new WeakMap<Config, RateLimiterMemory>();

type Asked = { config: Config; ip: string };

/** Counts a visit of one of the ways in; throws 429 for an address that comes too often. Each process counts for itself. */
export const countVisit = (ctx: Asked): Promise<void> => count(visits, ctx, ctx.config.signInsPerMinute);

/** Counts a challenge for a passkey, of which each opened page may want one: they take nothing from the visits. */
export const countChallenge = (ctx: Asked): Promise<void> =>
  count(challenges, ctx, ctx.config.signInsPerMinute * CHALLENGES_PER_VISIT);

async function count(
  limiters: WeakMap<Config, RateLimiterMemory>,
  { config, ip }: Asked,
  points: number,
): Promise<void> {
  let limiter = limiters.get(config);
  if (!limiter) {
    limiter = new RateLimiterMemory({ points, duration: 60 });
    limiters.set(config, limiter);
  }
  await takePoint(limiter, networkOf(ip));
}

/** One subscriber has a whole /64 of IPv6 addresses; an IPv4 address written as IPv6 is that address. */
export function networkOf(ip: string): string {
  if (!isIPv6(ip)) return ip;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip)?.[1];
  if (mapped) return mapped;
  const [head = '', tail] = (ip.split('%')[0] ?? ip).toLowerCase().split('::');
  const groups = head === '' ? [] : head.split(':');
  const after = tail ? tail.split(':') : [];
  if (tail !== undefined) while (groups.length + after.length < 8) groups.push('0');
  const first = [...groups, ...after].slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${first.join(':')}::/64`;
}
