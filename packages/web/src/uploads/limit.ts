/** Runs at most `most` pieces of work at a time, the others in the order they came. */
export function createLimit(most: number): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running >= most) await new Promise<void>((go) => waiting.push(go));
    else running += 1;
    try {
      return await work();
    } finally {
      // The place goes over to the next one.
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
