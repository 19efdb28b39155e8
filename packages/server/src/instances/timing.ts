/** Intervals of the reconcile loop, in milliseconds (reliability 3D). */
/** Notifications may be lost: due servers are looked for at least this often. */
export const DUE_SCAN_MS = 5_000;
/** How often the reaper looks for stuck servers. */
export const REAP_INTERVAL_MS = 60_000;
/** A limit per cloud, so that a slow cloud does not delay the others. */
export const MAX_CONCURRENT_PER_CLOUD = 8;

/** A machine counts as missing after two looks without it, this far apart, if it is at least this old. */
export const ABSENCE_RECHECK_MS = 30_000;
export const ABSENCE_MIN_AGE_MS = 120_000;
/** The same for a machine that its cloud was told to delete. */
export const DELETED_RECHECK_MS = 1_000;
/** An accepted request that shows no effect is sent again after this. */
export const RETRY_UNCONFIRMED_MS = 30_000;

/** How often a machine in its desired state is looked at. */
export const STEADY_POLL_MS = 30_000;

const BACKOFF_MIN_MS = 100;
const BACKOFF_BASE_MS = 1_000;
const BACKOFF_MAX_MS = 5 * 60_000;

/** Polls often at first, when most transitions end. */
export function pollIntervalMs(transitionAgeMs: number): number {
  if (transitionAgeMs < 20_000) return 500;
  return transitionAgeMs < 120_000 ? 2_000 : 5_000;
}

/** Exponential backoff from 1 s to 5 min with full jitter, so that many servers that fail together do not retry together. */
export function backoffMs(attempts: number, random: () => number = Math.random): number {
  const most = Math.min(BACKOFF_MAX_MS, BACKOFF_BASE_MS * 2 ** Math.min(attempts, 20));
  return Math.max(BACKOFF_MIN_MS, Math.round(most * random()));
}
