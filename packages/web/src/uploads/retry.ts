import { CallError } from '@stagi/contract/errors.ts';
import { PutError } from './putBytes.ts';

const ATTEMPTS = 8;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;

/**
 * Repeats work that failed for a passing reason, with growing pauses. While the browser is offline nothing is tried.
 * `attempt` is 0 at first. Throws the last error, or the signal's reason.
 */
export async function withBackOff<T>(signal: AbortSignal, work: (attempt: number) => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      await online(signal);
      return await work(attempt);
    } catch (error) {
      if (signal.aborted || attempt + 1 >= ATTEMPTS || !mayPass(error)) throw error;
      await pause(Math.max(waitMs(attempt, Math.random()), askedWaitMs(error)), signal);
    }
  }
}

/** From half of the pause to all of it: parts that failed together do not come back together. */
export const waitMs = (attempt: number, random: number): number =>
  Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** attempt) * (0.5 + random / 2);

/** A refused signature may be an expired link: the next attempt takes a new one. */
export function mayPass(error: unknown): boolean {
  if (error instanceof PutError)
    return [0, 400, 403, 408, 429, 500, 502, 503, 504].includes(error.status) && !isFinal(error.code);
  return error instanceof CallError && [0, 429, 500, 502, 503, 504].includes(error.status);
}

const FINAL = ['QuotaExceeded', 'EntityTooLarge', 'EntityTooSmall', 'InvalidArgument', 'KeyTooLongError'];
const isFinal = (code: string | null): boolean => code !== null && FINAL.includes(code);

function askedWaitMs(error: unknown): number {
  if (error instanceof PutError) return error.retryAfterMs;
  return error instanceof CallError ? (error.retryAfter ?? 0) * 1000 : 0;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      window.clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = window.setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal.addEventListener('abort', stop, { once: true });
  });
}

async function online(signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (navigator.onLine) return;
  await new Promise<void>((resolve, reject) => {
    window.addEventListener('online', () => resolve(), { once: true, signal });
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
