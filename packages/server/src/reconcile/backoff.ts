const MIN_MS = 100;
const BASE_MS = 1_000;
const MAX_MS = 5 * 60_000;

/** Exponential backoff from 1 s to 5 min with full jitter, so that many rows that fail together do not retry together. */
export function backoffMs(attempts: number, random: () => number = Math.random): number {
  const most = Math.min(MAX_MS, BASE_MS * 2 ** Math.min(attempts, 20));
  return Math.max(MIN_MS, Math.round(most * random()));
}
