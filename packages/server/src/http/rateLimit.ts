import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { Config } from '../config/config.ts';
import { tooManyRequests } from './errors.ts';

/** Consumes one of a key's points, or so many; throws 429 with the wait when too few are left. */
export async function consumePoint(limiter: RateLimiterMemory, key: string | number, points = 1): Promise<void> {
  try {
    await limiter.consume(key, points);
  } catch (refusal) {
    if (refusal instanceof RateLimiterRes) throw tooManyRequests(Math.ceil(refusal.msBeforeNext / 1000));
    throw refusal;
  }
}

/** A rate limiter with so many points per key; each platform in this process has its own. */
export function createRateLimiter(limits: {
  points: number;
  duration: number;
}): (ctx: { config: Config }) => RateLimiterMemory {
  const limiters = new WeakMap<Config, RateLimiterMemory>();
  return ({ config }) => {
    const limiter = limiters.get(config) ?? new RateLimiterMemory(limits);
    limiters.set(config, limiter);
    return limiter;
  };
}
