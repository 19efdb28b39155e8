import { setTimeout as pause } from 'node:timers/promises';

/** Polls until there is a result, and fails with `what` after `ms`. */
export async function until<T>(
  what: string,
  ask: () => Promise<T | false | null | undefined>,
  ms = 90_000,
  everyMs = 50,
): Promise<T> {
  const deadline = Date.now() + ms;
  for (;;) {
    const answer = await ask();
    if (answer) return answer;
    if (Date.now() > deadline) throw new Error(`not within ${ms / 1000} s: ${what}`);
    await pause(everyMs);
  }
}
