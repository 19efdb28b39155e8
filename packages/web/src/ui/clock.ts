import { useSyncExternalStore } from 'react';

const listeners = new Set<() => void>();
let now = Date.now();
let timer: number | undefined;

/** The time, moving once a second for everybody at once; in milliseconds. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}

/** The end of the minute that passes now, in milliseconds: for what is fetched by time, once a minute. */
export function useMinuteEnd(): number {
  return useSyncExternalStore(subscribe, () => Math.ceil(now / MINUTE_MS) * MINUTE_MS);
}

const MINUTE_MS = 60_000;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
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
