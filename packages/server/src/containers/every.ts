import type { Context } from '../context.ts';

/** Repeats `work` with a pause between two runs; one that fails is logged and tried again. `stop` waits for a run. */
export function every(
  { log }: Pick<Context, 'log'>,
  pauseMs: number,
  name: string,
  work: () => Promise<unknown>,
  firstAfterMs = 0,
): { stop(): Promise<void> } {
  let stopped = false;
  let running: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout = setTimeout(begin, firstAfterMs);

  function begin(): void {
    running = run();
  }

  async function run(): Promise<void> {
    try {
      await work();
    } catch (error) {
      log.error({ err: error }, `${name} failed`);
    }
    if (!stopped) timer = setTimeout(begin, pauseMs);
  }
  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
