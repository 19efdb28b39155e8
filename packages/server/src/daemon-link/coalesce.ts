/**
 * Coalesces requests for `work`: runs it at once, never concurrently, and once more when it was requested during a run.
 * A burst of requests costs one or two runs.
 */
export function coalesce(
  work: () => Promise<void>,
  onError: (error: unknown) => void,
): { request(): void /** Resolves when nothing runs. */; idle(): Promise<void> } {
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
    request() {
      if (running) again = true;
      else running = run();
    },
    idle: () => running ?? Promise.resolve(),
  };
}
