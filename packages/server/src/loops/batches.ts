interface BatchedQuestion<Q, A> {
  question: Q;
  resolve(answer: A): void;
  reject(error: unknown): void;
}

/**
 * Batches concurrent questions: one is answered at once while nothing is in progress, else together with all others that
 * have arrived by then, at most `most` per batch. After an error that `isOfOne` the batch is retried one by one, so that
 * only the bad question fails.
 */
export function batchQuestions<Q, A>(
  most: number,
  answer: (questions: readonly Q[]) => Promise<readonly A[]>,
  isOfOne: (error: unknown) => boolean = () => false,
): (question: Q) => Promise<A> {
  let waiting: BatchedQuestion<Q, A>[] = [];
  let isBusy = false;

  async function work(): Promise<void> {
    isBusy = true;
    while (waiting.length > 0) {
      const batch = waiting.slice(0, most);
      waiting = waiting.slice(most);
      await settle(batch);
    }
    isBusy = false;
  }

  async function settle(batch: readonly BatchedQuestion<Q, A>[]): Promise<void> {
    try {
      const answers = await answer(batch.map(({ question }) => question));
      for (const [index, { resolve }] of batch.entries()) resolve(answers[index]!);
    } catch (error) {
      if (batch.length > 1 && isOfOne(error)) for (const one of batch) await settle([one]);
      else for (const { reject } of batch) reject(error);
    }
  }

  return (question) =>
    new Promise((resolve, reject) => {
      waiting.push({ question, resolve, reject });
      // Deferred, so that questions asked in the same tick join the batch.
      if (!isBusy) {
        isBusy = true;
        queueMicrotask(() => void work());
      }
    });
}
