/**
 * Runs `pass` when woken, never two at once, and at least every `everyMs`. A wake during a pass leads to one more.
 * `pass` must not throw.
 */
export interface Loop {
  /** Something must be done: the next pass begins at once. */
  wake(): void;
  /** Something may have changed: of a burst of these the first begins a pass at once, then at most one in `gapMs`. */
  hint(): void;
  /** Resolves after a pass that began after this call, or when the loop is stopped. */
  settled(): Promise<void>;
  stop(): void;
}

export function startLoop(pass: () => Promise<void>, { everyMs, gapMs }: { everyMs: number; gapMs: number }): Loop {
  let stopped = false;
  let running = false;
  let dueAt = Number.POSITIVE_INFINITY;
  let begunAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let waiting: PromiseWithResolvers<void>[] = [];

  function dueBy(moment: number): void {
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
    const served = waiting;
    waiting = [];
    await pass();
    running = false;
    for (const { resolve } of served) resolve();
    if (!stopped) schedule();
  }
  return {
    wake: () => dueBy(performance.now()),
    hint: () => dueBy(Math.max(performance.now(), begunAt + gapMs)),
    settled() {
      const one = Promise.withResolvers<void>();
      if (stopped) one.resolve();
      else waiting.push(one);
      dueBy(performance.now());
      return one.promise;
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
      for (const { resolve } of waiting) resolve();
    },
  };
}
