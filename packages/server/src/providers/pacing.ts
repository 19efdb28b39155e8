import { setTimeout as pause } from 'node:timers/promises';
import { type Provider, ProviderError, type RateLimit } from './provider.ts';

/** Who would wait longer than this comes back later instead: people wait for some of these calls. */
const MOST_PATIENCE_MS = 2_000;

/**
 * The same cloud, asked no faster than it allows: calls take a token from a bucket that fills steadily, and after a
 * "too many requests" nobody asks until the cloud's own time is over.
 */
export function paced(provider: Provider): Provider {
  const { limit } = provider.traits;
  if (!limit) return provider;
  const bucket = createBucket(limit, () => performance.now());
  const inTurn =
    <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      const waitMs = bucket.take();
      if (waitMs === null) throw new ProviderError('retryable', `${provider.title} asks us to slow down`);
      if (waitMs > 0) await pause(waitMs);
      try {
        return await call(...args);
      } catch (error) {
        if (error instanceof ProviderError && error.retryAfterMs !== undefined) bucket.closeFor(error.retryAfterMs);
        throw error;
      }
    };
  return {
    ...provider,
    offers: inTurn(provider.offers),
    start: inTurn(provider.start),
    look: inTurn(provider.look),
    list: inTurn(provider.list),
    terminate: inTurn(provider.terminate),
    stop: provider.stop && inTurn(provider.stop),
    resume: provider.resume && inTurn(provider.resume),
    reboot: provider.reboot && inTurn(provider.reboot),
  };
}

/** `take` answers how many milliseconds to wait before calling, or `null`: too long, no token was taken. */
export function createBucket({ perSecond, burst }: RateLimit, now: () => number) {
  let tokens = burst;
  let filledAt = now();
  let closedUntil = 0;
  return {
    take(): number | null {
      const at = now();
      tokens = Math.min(burst, tokens + ((at - filledAt) / 1000) * perSecond);
      filledAt = at;
      const waitMs = Math.max(closedUntil - at, ((1 - tokens) / perSecond) * 1000, 0);
      if (waitMs > MOST_PATIENCE_MS) return null;
      tokens -= 1;
      return waitMs;
    },
    closeFor(ms: number): void {
      closedUntil = Math.max(closedUntil, now() + ms);
    },
  };
}
