type Turns = <T>(work: () => Promise<T>) => Promise<T>;

interface Waiting {
  /** How many may wait. */
  most: number;
  /** What those beyond are told. */
  refuse: () => Error;
  /** Whether the work at hand goes before those that wait. */
  goesFirst?: () => boolean;
}

/** Lets at most `most` pieces of work run at once; the others wait in the order they came, if they may. */
export function takeTurns(most: number, waiting?: Waiting): Turns {
  let running = 0;
  const queue: (() => void)[] = [];
  return async (work) => {
    if (running < most) running += 1;
    else if (waiting && queue.length >= waiting.most) throw waiting.refuse();
    else await new Promise<void>((resolve) => (waiting?.goesFirst?.() ? queue.unshift(resolve) : queue.push(resolve)));
    try {
      return await work();
    } finally {
      const next = queue.shift();
      if (next) next();
      else running -= 1;
    }
  };
}

/** The same for each key apart; keys that nobody uses take no memory. */
export function takeTurnsByKey<Key>(
  most: number,
  waiting?: Waiting,
): <T>(key: Key, work: () => Promise<T>) => Promise<T> {
  const byKey = new Map<Key, { turns: Turns; users: number }>();
  return async (key, work) => {
    const entry = byKey.get(key) ?? { turns: takeTurns(most, waiting), users: 0 };
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
