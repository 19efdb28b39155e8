import { errorText, log } from '../log.ts';
import { withTimeout } from '../timing.ts';

/**
 * Looks that may hang (a driver without its GPU, a network file system without its server): `unknown` is the answer
 * after the timeout, on an error, and until the look that hangs has ended.
 */
export function oneAtATime<A extends unknown[], R>(
  { what, timeoutMs, unknown }: { what: string; timeoutMs: number; unknown: R },
  look: (...args: A) => Promise<R>,
): (...args: A) => Promise<R> {
  let isUnderWay = false;
  let problem: string | null = null;
  return async (...args) => {
    // Another look would hang as well, and keep one more thread or process.
    if (isUnderWay) return unknown;
    isUnderWay = true;
    const looking = look(...args).finally(() => {
      isUnderWay = false;
    });
    try {
      const seen = await withTimeout(timeoutMs, what, () => looking);
      problem = null;
      return seen;
    } catch (error) {
      // Said once: it may last for days.
      if (problem !== errorText(error)) log(`${what} failed: ${errorText(error)}`);
      problem = errorText(error);
      return unknown;
    }
  };
}
