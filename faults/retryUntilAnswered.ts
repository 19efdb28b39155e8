import { setTimeout as pause } from 'node:timers/promises';
import { CallError } from '@stagi/contract/errors.ts';

const PATIENCE_MS = 60_000;

/**
 * Retries a call until it is answered. A refusal after an attempt whose answer was lost counts as success when `happened`
 * finds that the attempt took effect.
 */
export async function retryUntilAnswered<T>(
  call: () => Promise<T>,
  happened?: () => Promise<boolean>,
): Promise<T | null> {
  const deadline = Date.now() + PATIENCE_MS;
  let isLost = false;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      const isOutage = error.status === 0 || error.status >= 500 || error.status === 409 || error.status === 429;
      if (isOutage) isLost = true;
      if (isLost && happened && (await happened())) return null;
      if (!isOutage || Date.now() > deadline) throw error;
      await pause(50);
    }
  }
}
