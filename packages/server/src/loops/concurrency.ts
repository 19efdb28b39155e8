type Limiter = <T>(work: () => Promise<T>) => Promise<T>;

interface QueueOptions {
  /** The length of the queue. */
  most: number;
  /** The error when the queue is full. */
  refuse: () => Error;
  /** Whether the current caller's work goes to the front of the queue. */
  hasPriority?: () => boolean;
}

/** Runs at most `most` pieces of work at once; the others wait in a queue, bounded if `waiting` is given. */
export function limitConcurrency(most: number, waiting?: QueueOptions): Limiter {
  let running = 0;
  const queue: (() => void)[] = [];
  return async (work) => {
    if (running < most) running += 1;
    else if (waiting && queue.length >= waiting.most) throw waiting.refuse();
    else
      await new Promise<void>((resolve) => (waiting?.hasPriority?.() ? queue.unshift(resolve) : queue.push(resolve)));
    try {
      return await work();
    } finally {
      const next = queue.shift();
      if (next) next();
      else running -= 1;
    }
  };
}

/** The same, with a limit of its own for each key; unused keys take no memory. */
export function limitConcurrencyByKey<Key>(
  most: number,
  waiting?: QueueOptions,
): <T>(key: Key, work: () => Promise<T>) => Promise<T> {
  const byKey = new Map<Key, { turns: Limiter; users: number }>();
  return async (key, work) => {
    const entry = byKey.get(key) ?? { turns: limitConcurrency(most, waiting), users: 0 };
    byKey.set(key, entry);
    entry.users += 1;
    try {
      return await entry.turns(work);
    } finally {
      entry.users -= 1;
      if (entry.users === 0) byKey.delete(key);
    }
  };
}
