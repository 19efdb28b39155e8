import { expect, it } from 'vitest';
import { stopBusyPlatform } from './testing/busyShutdown.ts';

const STOPS_WITHIN_MS = 10_000;

it('a graceful shutdown ends within 10 s', async () => {
  const ms = await stopBusyPlatform();
  console.log(`stop: n = 1, one call in hand and one stream, gone after ${ms.toFixed(0)} ms`);
  expect(ms).toBeLessThan(STOPS_WITHIN_MS);
});
