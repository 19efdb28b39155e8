/** Intervals of the reconcile loop, in milliseconds (reliability 3D). */
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

/** Polls often at first, when most transitions end. */
export function pollIntervalMs(transitionAgeMs: number): number {
  if (transitionAgeMs < 20_000) return 500;
  return transitionAgeMs < 120_000 ? 2_000 : 5_000;
}
