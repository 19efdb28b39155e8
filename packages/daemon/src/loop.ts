/**
 * Runs `pass` when woken, never concurrently, and at least every `everyMs`. A wake during a pass causes one more.
 * `pass` must not throw.
 */
export interface Loop {
  /** Begins the next pass at once. */
  wake(): void;
  /** For frequent events: of a burst, the first begins a pass at once, then there is at most one in `gapMs`. */
  wakeThrottled(): void;
  /** Runs a pass and resolves when it has ended, or when the loop is stopped. */
  nextPass(): Promise<void>;
  stop(): void;
}

export function startLoop(pass: () => Promise<void>, { everyMs, gapMs }: { everyMs: number; gapMs: number }): Loop {
  let stopped = false;
  let running = false;
  let dueAt = Number.POSITIVE_INFINITY;
  let begunAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let waiters: PromiseWithResolvers<void>[] = [];

  function scheduleBy(moment: number): void {
    if (stopped || moment >= dueAt) return;
    dueAt = moment;
    if (!running) schedule();
  }
  function schedule(): void {
    clearTimeout(timer);
    timer = setTimeout(run, Math.max(0, dueAt - performance.now()));
  }
  async function run(): Promise<void> {
    running = true;
    begunAt = performance.now();
    dueAt = begunAt + everyMs;
    const served = waiters;
    waiters = [];
    await pass();
    running = false;
    for (const { resolve } of served) resolve();
    if (!stopped) schedule();
  }
  return {
    wake: () => scheduleBy(performance.now()),
    wakeThrottled: () => scheduleBy(Math.max(performance.now(), begunAt + gapMs)),
    nextPass() {
      const one = Promise.withResolvers<void>();
      if (stopped) one.resolve();
      else waiters.push(one);
      scheduleBy(performance.now());
      return one.promise;
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
      for (const { resolve } of waiters) resolve();
    },
  };
}
