import { setTimeout as pause } from 'node:timers/promises';

/** How much may pass at once after a quiet time, in milliseconds of the rate. */
const BURST_MS = 100;

/** Waits before an amount so that not more than `perSecond` passes, in all calls together. */
export function limitRate(perSecond: number): (amount: number) => Promise<void> {
  let freeAt = 0;
  return async (amount) => {
    const now = performance.now();
    freeAt = Math.max(freeAt, now - BURST_MS) + (amount / perSecond) * 1_000;
    if (freeAt > now) await pause(freeAt - now);
  };
}
