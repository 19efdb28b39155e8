/** The figures of the reconcile loop, in milliseconds (reliability 3D). */
/** Hints may be lost; nothing waits longer than this to be found due. */
export const RESCAN_MS = 5_000;
/** How often it is looked for servers that everybody has forgotten. */
export const REAP_EVERY_MS = 60_000;
/** Machines of one cloud that are worked on at once: a slow cloud delays no other. */
export const PER_PROVIDER = 8;

/** Absence is believed when seen twice this far apart, of a machine at least this old. */
export const MISS_GAP_MS = 30_000;
export const MISS_AGE_MS = 120_000;
/** A machine that a cloud was told to delete: two looks without it, this far apart. */
export const GONE_GAP_MS = 1_000;
/** A cloud that accepted something and shows nothing of it is asked again after this. */
export const REPEAT_MS = 30_000;

/** How often a machine is looked at that should just stay as it is. */
export const WATCH_MS = 30_000;

const BACK_OFF_LEAST_MS = 100;
const BACK_OFF_FIRST_MS = 1_000;
const BACK_OFF_MOST_MS = 5 * 60_000;

/** Looks follow each other closely at first, when most transitions end. */
export function pollMs(transitionAgeMs: number): number {
  if (transitionAgeMs < 20_000) return 500;
  return transitionAgeMs < 120_000 ? 2_000 : 5_000;
}

/** Up to 1 s, doubling to 5 min; full jitter keeps many that failed together from coming back together. */
export function backOffMs(attempts: number, random: () => number = Math.random): number {
  const most = Math.min(BACK_OFF_MOST_MS, BACK_OFF_FIRST_MS * 2 ** Math.min(attempts, 20));
  return Math.max(BACK_OFF_LEAST_MS, Math.round(most * random()));
}
