import { describe, expect, it } from 'vitest';
import { type Provider, ProviderError } from './provider.ts';
import { createTokenBucket, rateLimited } from './rateLimit.ts';

describe('the token bucket', () => {
  const aBucket = (perSecond: number, burst: number) => {
    const clock = { ms: 0 };
    return { clock, ...createTokenBucket({ perSecond, burst }, () => clock.ms) };
  };

  it('allows a burst at once, and then the rate per second', () => {
    const { clock, take } = aBucket(10, 3);
    expect([take(), take(), take()]).toEqual([0, 0, 0]);
    expect([take(), take()]).toEqual([100, 200]);
    clock.ms = 1_000;
    expect([take(), take(), take()]).toEqual([0, 0, 0]);
  });

  it('refuses a call that would wait too long, without taking a token', () => {
    const { clock, take } = aBucket(1, 1);
    expect([take(), take(), take()]).toEqual([0, 1_000, 2_000]);
    expect([take(), take()]).toEqual([null, null]);
    clock.ms = 3_000;
    expect(take()).toBe(0);
  });

  it('is blocked for the Retry-After of the cloud', () => {
    const { clock, take, blockFor: closeFor } = aBucket(10, 5);
    closeFor(5_000);
    expect(take()).toBe(null);
    clock.ms = 4_000;
    expect(take()).toBe(1_000);
  });
});

describe('a cloud with a rate limit', () => {
  it('is not called again before its Retry-After has passed', async () => {
    let calls = 0;
    const cloud = rateLimited({
      title: 'A cloud',
      traits: { limit: { perSecond: 100, burst: 10 } },
      async list() {
        calls += 1;
        throw new ProviderError('retryable', 'Too many requests', { retryAfterMs: 60_000 });
      },
    } as unknown as Provider);
    await expect(cloud.list()).rejects.toThrow('Too many requests');
    await expect(cloud.list()).rejects.toMatchObject({ kind: 'retryable', message: 'A cloud asks us to slow down' });
    expect(calls).toBe(1);
  });
});
