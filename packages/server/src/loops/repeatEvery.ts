import type { Context } from '../context.ts';

export interface Loop {
  /** Runs now, or once more after the current run. */
  now(): void;
  /** Stops the loop and waits for the current run. */
  stop(): Promise<void>;
}

/** Repeats `work` with a pause between two runs; a failure is logged, and the next run retries. */
export function repeatEvery(
  { log }: Pick<Context, 'log'>,
  pauseMs: number,
  name: string,
  work: () => Promise<unknown>,
  firstAfterMs = 0,
): Loop {
  let stopped = false;
  let isRunning = false;
  let isAsked = false;
  let running: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout = setTimeout(begin, firstAfterMs);

  function begin(): void {
    running = run();
  }

  async function run(): Promise<void> {
    isRunning = true;
    isAsked = false;
    try {
      await work();
    } catch (error) {
      log.error({ err: error }, `${name} failed`);
    }
    isRunning = false;
    if (!stopped) timer = setTimeout(begin, isAsked ? 0 : pauseMs);
  }
  return {
    now() {
      isAsked = true;
      if (isRunning || stopped) return;
      clearTimeout(timer);
      timer = setTimeout(begin, 0);
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
