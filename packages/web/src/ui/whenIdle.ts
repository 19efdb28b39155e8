const asked = new Set<() => unknown>();

/** Does something once, when the page has nothing else to do: what is fetched then is there when it is wanted. */
export function whenIdle(work: () => Promise<unknown>): void {
  if (asked.has(work)) return;
  asked.add(work);
  const begin = () =>
    work().catch((cause: unknown) => {
      // Who wants it will ask again, and be told then.
      console.debug('Not fetched ahead', cause);
    });
  // Safari has no idle callbacks.
  if (window.requestIdleCallback) window.requestIdleCallback(begin, { timeout: 10_000 });
  else window.setTimeout(begin, 2_000);
}
