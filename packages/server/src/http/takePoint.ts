import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { Config } from '../config.ts';
import { tooMany } from './errors.ts';

/** Takes one of a key's points; throws 429 with the wait when none is left. */
export async function takePoint(limiter: RateLimiterMemory, key: string | number): Promise<void> {
  try {
    await limiter.consume(key);
  } catch (refusal) {
    if (refusal instanceof RateLimiterRes) throw tooMany(Math.ceil(refusal.msBeforeNext / 1000));
    throw refusal;
  }
}

/** So many points for each key, of each platform in this process by itself. */
export function limiterOf(limits: {
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
