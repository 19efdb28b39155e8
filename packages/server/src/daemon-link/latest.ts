/**
 * Runs `work` when it is asked for: at once, never twice at the same time, and once more when it was asked for
 * meanwhile. Many changes in a short time cost one or two runs.
 */
export function latest(
  work: () => Promise<void>,
  onError: (error: unknown) => void,
): { ask(): void /** Resolves when nothing runs. */; idle(): Promise<void> } {
  let running: Promise<void> | null = null;
  let again = false;
  const run = async (): Promise<void> => {
    do {
      again = false;
      try {
        await work();
      } catch (error) {
        onError(error);
      }
    } while (again);
    running = null;
  };
  return {
    ask() {
      if (running) again = true;
      else running = run();
    },
    idle: () => running ?? Promise.resolve(),
  };
}
