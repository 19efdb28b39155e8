import { useSyncExternalStore } from 'react';

const listeners = new Set<() => void>();
let now = Date.now();
let timer: number | undefined;

/** The time, moving once a second for everybody at once; in milliseconds. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}

/**
 * The last millisecond of the current minute, for requests by time that change once a minute. It is never in the next
 * minute, which may be another day.
 */
export function useMinuteEnd(): number {
  return useSyncExternalStore(subscribe, () => minuteEnd(now));
}

export const minuteEnd = (at: number): number => at - (at % MINUTE_MS) + MINUTE_MS - 1;

const MINUTE_MS = 60_000;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  // Without listeners the clock stands still. React reads it again after it has subscribed.
  if (timer === undefined) now = Date.now();
  timer ??= window.setInterval(tick, 1000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    window.clearInterval(timer);
    timer = undefined;
  };
}

function tick(): void {
  now = Date.now();
  for (const listener of listeners) listener();
}
