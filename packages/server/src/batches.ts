interface Waiting<Q, A> {
  question: Q;
  resolve(answer: A): void;
  reject(error: unknown): void;
}

/**
 * Answers together what is asked at the same time: a question is taken up at once while nothing is being answered, else
 * with all others that have come by then, at most `most` in one go. After an error that `isOfOne` the questions are
 * asked again one by one, so that the bad one fails alone.
 */
export function inBatches<Q, A>(
  most: number,
  answer: (questions: readonly Q[]) => Promise<readonly A[]>,
  isOfOne: (error: unknown) => boolean = () => false,
): (question: Q) => Promise<A> {
  let waiting: Waiting<Q, A>[] = [];
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

  async function settle(batch: readonly Waiting<Q, A>[]): Promise<void> {
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
      // Those that are asked in the same moment go along.
      if (!isBusy) {
        isBusy = true;
        queueMicrotask(() => void work());
      }
    });
}
