import { isIPv6 } from 'node:net';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import type { Config } from '../config.ts';
import { takePoint } from '../http/takePoint.ts';

const limiters = new WeakMap<Config, RateLimiterMemory>();

/** Counts a visit of one of the ways in; throws 429 for an address that comes too often. Each process counts for itself. */
export async function countVisit(ctx: { config: Config; ip: string }): Promise<void> {
  let limiter = limiters.get(ctx.config);
  if (!limiter) {
    limiter = new RateLimiterMemory({ points: ctx.config.signInsPerMinute, duration: 60 });
    limiters.set(ctx.config, limiter);
  }
  await takePoint(limiter, networkOf(ctx.ip));
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
