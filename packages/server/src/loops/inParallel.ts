/**
 * Does `work` with each item, at most `most` at once, reading the items as it goes. After an error nothing more begins; it
 * is thrown when what had begun has ended.
 */
export async function inParallel<T>(
  most: number,
  items: Iterable<T> | AsyncIterable<T>,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const shared = oneByOne(items);
  const takeTurns = async (): Promise<void> => {
    // Leaving the loop by an error ends the sequence for all.
    for await (const item of shared) await work(item);
  };
  const ended = await Promise.allSettled(Array.from({ length: most }, takeTurns));
  for (const one of ended) if (one.status === 'rejected') throw one.reason;
}

async function* oneByOne<T>(items: Iterable<T> | AsyncIterable<T>): AsyncGenerator<T> {
  yield* items;
}
