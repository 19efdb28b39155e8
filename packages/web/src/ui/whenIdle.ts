import { useSyncExternalStore } from 'react';

const asked = new Set<() => unknown>();

/** Runs something once when the page is idle, such as loading code before it is needed. */
export function whenIdle(work: () => Promise<unknown>): void {
  if (asked.has(work)) return;
  asked.add(work);
  const begin = () =>
    work().catch((cause: unknown) => {
      // The caller that needs it will try again, and get the error then.
      console.debug('Not fetched ahead', cause);
    });
  // Safari has no idle callbacks.
  if (window.requestIdleCallback) window.requestIdleCallback(begin, { timeout: 10_000 });
  else window.setTimeout(begin, 2_000);
}

const SIGNS = ['pointermove', 'pointerdown', 'keydown', 'scroll'] as const;
/** For a page that is left alone. */
const AT_LATEST_MS = 10_000;
const waiting = new Set<() => void>();
let isUsed = false;

/**
 * The same from the first sign of somebody using the app on. What a page has no use for before does not take the
 * processor while it becomes usable, which is longest on a phone.
 */
export function whenUsed(work: () => Promise<unknown>): void {
  if (isUsed) whenIdle(work);
  else onceUsed(() => whenIdle(work));
}

/** Whether there was such a sign. */
export function useUsed(): boolean {
  return useSyncExternalStore(
    onceUsed,
    () => isUsed,
    () => false,
  );
}

function onceUsed(listener: () => void): () => void {
  if (waiting.size === 0 && !isUsed) awaitSign();
  waiting.add(listener);
  return () => waiting.delete(listener);
}

function awaitSign(): void {
  const ended = new AbortController();
  const begin = () => {
    isUsed = true;
    ended.abort();
    window.clearTimeout(timer);
    for (const listener of waiting) listener();
    waiting.clear();
  };
  const timer = window.setTimeout(begin, AT_LATEST_MS);
  for (const sign of SIGNS)
    window.addEventListener(sign, begin, { signal: ended.signal, passive: true, capture: true });
}
