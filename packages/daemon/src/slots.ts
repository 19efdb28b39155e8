/** A bounded number of things at a time; the rest waits in the order of asking. */
export interface Slots {
  /** Resolves with what gives the slot back, once. Rejects when the signal is aborted. */
  take(signal: AbortSignal): Promise<() => void>;
}

export function createSlots(count: number): Slots {
  let free = count;
  const waiting = new Set<() => void>();

  function give(): void {
    const [next] = waiting;
    if (!next) free++;
    else {
      waiting.delete(next);
      next();
    }
  }
  function slot(): () => void {
    let isHeld = true;
    return () => {
      if (isHeld) give();
      isHeld = false;
    };
  }
  return {
    async take(signal) {
      signal.throwIfAborted();
      if (free > 0) {
        free--;
        return slot();
      }
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const abort = () => {
        waiting.delete(resolve);
        reject(signal.reason);
      };
      waiting.add(resolve);
      signal.addEventListener('abort', abort, { once: true });
      await promise.finally(() => signal.removeEventListener('abort', abort));
      return slot();
    },
  };
}
