import type { FairSlots } from './fairSlots.ts';
import type { Holder } from './holder.ts';

/**
 * Starts a process in its turn. A start copies the tables of this process's memory and stands it still meanwhile, for 2
 * to 40 ms: the next one follows after as long a pause, so that starts take at most half of its time. Rejects like
 * `take` of `starts`.
 */
export async function startInTurn<T>(
  starts: FairSlots,
  holder: Holder,
  start: () => T,
  signal?: AbortSignal,
): Promise<T> {
  const release = await starts.take(holder, { signal });
  const begun = performance.now();
  try {
    return start();
  } finally {
    setTimeout(release, performance.now() - begun);
  }
}
