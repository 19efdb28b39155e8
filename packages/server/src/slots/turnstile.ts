import { setTimeout as pause } from 'node:timers/promises';
import { tooManyConcurrent } from '../http/errors.ts';

interface Pace {
  perSecond: number;
  /** So many may come at once, after a while in which nobody came. */
  atOnce: number;
  /** A newcomer that would wait longer is refused. */
  longestWaitMs: number;
}

/**
 * Lets those of one key pass one after the other: the generic cell rate algorithm (ITU-T I.371). A newcomer takes the
 * place of the oldest of its address, so without a pace whoever comes back fast enough would drive out everybody who
 * takes a moment to authenticate. The queue of rate-limiter-flexible keeps every key for ever: each stranger would cost
 * memory.
 *
 * Resolves when it is one's turn; throws 429 for whom it comes too late.
 */
export function createTurnstile({ perSecond, atOnce, longestWaitMs }: Pace): (key: string) => Promise<void> {
  const gapMs = 1_000 / perSecond;
  /** The time at which the last of a key is due, had nobody come at once. */
  const due = new Map<string, number>();
  return async (key) => {
    const now = performance.now();
    const mine = Math.max(now, due.get(key) ?? 0) + gapMs;
    const waitMs = mine - now - atOnce * gapMs;
    if (waitMs > longestWaitMs) throw tooManyConcurrent(Math.ceil(waitMs / 1_000));
    due.set(key, mine);
    void pause(mine - now, undefined, { ref: false }).then(() => {
      if (due.get(key) === mine) due.delete(key);
    });
    if (waitMs > 0) await pause(waitMs);
  };
}
