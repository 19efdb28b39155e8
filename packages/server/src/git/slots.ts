/** A bounded number of things at a time; the rest waits in the order of asking. */
export interface Slots {
  /** Resolves with what gives the slot back. Rejects when too many wait already, or when `signal` is aborted. */
  take(signal?: AbortSignal): Promise<() => void>;
}

export function createSlots({
  slots,
  waiting,
  onFull,
}: {
  slots: number;
  waiting: number;
  onFull: () => Error;
}): Slots {
  let free = slots;
  const queue = new Set<() => void>();

  function slot(): () => void {
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      free += 1;
      for (const next of queue) {
        next();
        break;
      }
    };
  }

  return {
    take(signal) {
      if (signal?.aborted) return Promise.reject(signal.reason as Error);
      if (free > 0) {
        free -= 1;
        return Promise.resolve(slot());
      }
      if (queue.size >= waiting) return Promise.reject(onFull());
      return new Promise((resolve, reject) => {
        const next = (): void => {
          queue.delete(next);
          signal?.removeEventListener('abort', abort);
          free -= 1;
          resolve(slot());
        };
        const abort = (): void => {
          queue.delete(next);
          reject(signal!.reason as Error);
        };
        signal?.addEventListener('abort', abort, { once: true });
        queue.add(next);
      });
    },
  };
}
