import { setTimeout as pause } from 'node:timers/promises';
import { type Provider, ProviderError, type RateLimit } from './provider.ts';

/** Calls that would wait longer fail instead, as people wait for some of them. */
const MAX_WAIT_MS = 2_000;

/**
 * A provider within the rate limit of its cloud: calls take a token from a bucket, and after a "too many requests" all
 * calls are blocked for the Retry-After of the cloud.
 */
export function rateLimited(provider: Provider): Provider {
  const { limit } = provider.traits;
  if (!limit) return provider;
  const bucket = createTokenBucket(limit, () => performance.now());
  const limited =
    <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      const waitMs = bucket.take();
      if (waitMs === null) throw new ProviderError('retryable', `${provider.title} asks us to slow down`);
      if (waitMs > 0) await pause(waitMs);
      try {
        return await call(...args);
      } catch (error) {
        if (error instanceof ProviderError && error.retryAfterMs !== undefined) bucket.blockFor(error.retryAfterMs);
        throw error;
      }
    };
  return {
    ...provider,
    offers: limited(provider.offers),
    start: limited(provider.start),
    getMachine: limited(provider.getMachine),
    list: limited(provider.list),
    terminate: limited(provider.terminate),
    stop: provider.stop && limited(provider.stop),
    resume: provider.resume && limited(provider.resume),
    reboot: provider.reboot && limited(provider.reboot),
  };
}

/** `take` returns the milliseconds to wait before the call, or `null` when that is too long and no token was taken. */
export function createTokenBucket({ perSecond, burst }: RateLimit, now: () => number) {
  let tokens = burst;
  let refilledAt = now();
  let blockedUntil = 0;
  return {
    take(): number | null {
      const at = now();
      tokens = Math.min(burst, tokens + ((at - refilledAt) / 1000) * perSecond);
      refilledAt = at;
      const waitMs = Math.max(blockedUntil - at, ((1 - tokens) / perSecond) * 1000, 0);
      if (waitMs > MAX_WAIT_MS) return null;
      tokens -= 1;
      return waitMs;
    },
    blockFor(ms: number): void {
      blockedUntil = Math.max(blockedUntil, now() + ms);
    },
  };
}
