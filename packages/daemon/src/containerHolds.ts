/**
 * Docker locks a container for as long as an archive of it is read or written: any other call for it hangs that long.
 * Nobody can start, change or remove the container meanwhile.
 */
export interface ContainerHolds<T> {
  /** What the container shows; while it is held, what it showed when that began. */
  look(dockerId: string, inspect: () => Promise<T>): Promise<T>;
  /** Makes a call that needs Docker's lock; null while the container is held. */
  unlessHeld<R>(dockerId: string, call: () => Promise<R>): Promise<R | null>;
  /** Makes a call that needs Docker's lock, once the container is not held. */
  afterHold<R>(dockerId: string, call: () => Promise<R>): Promise<R>;
  /**
   * Runs `work`, which has Docker lock the container, once the calls before have been answered. Two holds of one
   * container cannot meet, because its steps run in sequence.
   */
  hold<R>(dockerId: string, inspect: () => Promise<T>, work: () => Promise<R>): Promise<R>;
}

export function containerHolds<T>(): ContainerHolds<T> {
  const held = new Map<string, { shown: Promise<T>; ended: Promise<void> }>();
  const calls = new Map<string, Set<Promise<unknown>>>();

  async function track<R>(dockerId: string, call: () => Promise<R>): Promise<R> {
    const open = calls.get(dockerId) ?? new Set();
    calls.set(dockerId, open);
    const answer = call();
    open.add(answer);
    try {
      return await answer;
    } finally {
      open.delete(answer);
      if (open.size === 0) calls.delete(dockerId);
    }
  }
  async function released(dockerId: string): Promise<void> {
    for (let hold = held.get(dockerId); hold; hold = held.get(dockerId)) await hold.ended;
  }
  async function settled(dockerId: string): Promise<void> {
    await Promise.allSettled(calls.get(dockerId) ?? []);
  }
  return {
    look: (dockerId, inspect) => held.get(dockerId)?.shown ?? track(dockerId, inspect),
    unlessHeld: (dockerId, call) => (held.has(dockerId) ? Promise.resolve(null) : track(dockerId, call)),
    async afterHold(dockerId, call) {
      await released(dockerId);
      return track(dockerId, call);
    },
    async hold(dockerId, inspect, work) {
      await released(dockerId);
      const { promise: ended, resolve } = Promise.withResolvers<void>();
      const shown = settled(dockerId).then(inspect);
      held.set(dockerId, { shown, ended });
      try {
        await shown;
        return await work();
      } finally {
        held.delete(dockerId);
        resolve();
      }
    },
  };
}
