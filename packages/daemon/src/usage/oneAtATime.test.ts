import { describe, expect, it } from 'vitest';
import { oneAtATime } from './oneAtATime.ts';

describe('a look that may hang', () => {
  it('is not known until it ends, and no other begins meanwhile', async () => {
    const looks: PromiseWithResolvers<number>[] = [];
    const look = oneAtATime({ what: 'looking', timeoutMs: 20, unknown: -1 }, () => {
      const one = Promise.withResolvers<number>();
      looks.push(one);
      return one.promise;
    });
    expect(await look()).toBe(-1);
    expect(await look()).toBe(-1);
    expect(looks).toHaveLength(1);
    looks[0]!.resolve(1);
    await looks[0]!.promise;
    const next = look();
    expect(looks).toHaveLength(2);
    looks[1]!.resolve(2);
    expect(await next).toBe(2);
  });

  it('is not known when it fails', async () => {
    const look = oneAtATime({ what: 'looking', timeoutMs: 1000, unknown: null }, () =>
      Promise.reject(new Error('no sensor')),
    );
    expect(await look()).toBeNull();
    expect(await look()).toBeNull();
  });
});
