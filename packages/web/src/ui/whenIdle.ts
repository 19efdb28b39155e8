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
