import { describe, expect, it } from 'vitest';
import { createBucket, paced } from './pacing.ts';
import { type Provider, ProviderError } from './provider.ts';

describe('the bucket of a cloud', () => {
  const aBucket = (perSecond: number, burst: number) => {
    const clock = { ms: 0 };
    return { clock, ...createBucket({ perSecond, burst }, () => clock.ms) };
  };

  it('lets a burst through at once, and then as many as come in a second', () => {
    const { clock, take } = aBucket(10, 3);
    expect([take(), take(), take()]).toEqual([0, 0, 0]);
    expect([take(), take()]).toEqual([100, 200]);
    clock.ms = 1_000;
    expect([take(), take(), take()]).toEqual([0, 0, 0]);
  });

  it('sends away who would wait too long, without taking a token from the others', () => {
    const { clock, take } = aBucket(1, 1);
    expect([take(), take(), take()]).toEqual([0, 1_000, 2_000]);
    expect([take(), take()]).toEqual([null, null]);
    clock.ms = 3_000;
    expect(take()).toBe(0);
  });

  it('is closed for as long as the cloud wants to be left alone', () => {
    const { clock, take, closeFor } = aBucket(10, 5);
    closeFor(5_000);
    expect(take()).toBe(null);
    clock.ms = 4_000;
    expect(take()).toBe(1_000);
  });
});

describe('a cloud with a limit', () => {
  it('is not asked again before its own time is over', async () => {
    let calls = 0;
    const cloud = paced({
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
