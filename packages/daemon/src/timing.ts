/**
 * Runs `work` and rejects after the timeout, even if `work` never ends: a Docker that hangs must not hang the daemon.
 * The timeout also aborts the signal that `work` gets.
 */
export async function withTimeout<T>(ms: number, what: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(new Error(`${what} took longer than ${Math.round(ms / 1000)} s`));
    controller.abort();
  }, ms);
  try {
    return await Promise.race([work(controller.signal), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Exponential backoff with full jitter: between 1 s and a bound that doubles with each attempt from 2 s to `capMs`. */
export function backoffMs(attempt: number, capMs: number, random: () => number = Math.random): number {
  const bound = Math.min(capMs, 2000 * 2 ** Math.min(attempt, 20));
  return 1000 + random() * (bound - 1000);
}

/** Waits, or returns early when the signal is aborted; never throws. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const done = () => resolve();
  const timer = setTimeout(done, ms);
  signal.addEventListener('abort', done, { once: true });
  await promise;
  clearTimeout(timer);
  signal.removeEventListener('abort', done);
}
