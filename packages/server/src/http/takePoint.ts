import { type RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
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
