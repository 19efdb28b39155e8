import { expect, it } from 'vitest';
import { limitRate } from './rate.ts';

it('lets a rate pass, in all calls together', async () => {
  const wait = limitRate(1_000_000);
  const began = performance.now();
  await Promise.all(Array.from({ length: 10 }, () => wait(50_000)));
  // 0.5 s less the burst of 0.1 s.
  expect(performance.now() - began).toBeGreaterThanOrEqual(395);
  await wait(1);
});
