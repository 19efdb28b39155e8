import { setTimeout as pause } from 'node:timers/promises';

/** Asks `condition` until it holds and answers what it answered; fails with the reason after `ms`. */
export async function until<T>(
  what: string,
  ms: number,
  condition: () => Promise<T | false | null | undefined>,
): Promise<T> {
  const deadline = Date.now() + ms;
  for (;;) {
    const answer = await condition();
    if (answer) return answer;
    if (Date.now() > deadline) throw new Error(`not within ${ms / 1000} s: ${what}`);
    await pause(100);
  }
}

/** For `expect.poll`, whose usual pauses are longer than what is waited for, and add up where it happens often. In ms. */
export const OFTEN = { intervals: [10, 20, 40, 80, 160] };
