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
const waiting = new Set<() => Promise<unknown>>();

/**
 * The same from the first sign of somebody using the page on. What a page has no use for before does not take the
 * processor while it becomes usable, which is longest on a phone.
 */
export function whenUsed(work: () => Promise<unknown>): void {
  if (asked.has(work)) return;
  if (waiting.size === 0) awaitSign();
  waiting.add(work);
}

function awaitSign(): void {
  const ended = new AbortController();
  const begin = () => {
    ended.abort();
    window.clearTimeout(timer);
    for (const work of waiting) whenIdle(work);
    waiting.clear();
  };
  const timer = window.setTimeout(begin, AT_LATEST_MS);
  for (const sign of SIGNS)
    window.addEventListener(sign, begin, { signal: ended.signal, passive: true, capture: true });
}
