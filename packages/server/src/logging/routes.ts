import type { api } from '@stagi/contract/api.ts';
import { tooManyConcurrent } from '../http/errors.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { limitConcurrencyByKey } from '../loops/concurrency.ts';
import { queryLines } from './query.ts';
import { containerOf } from './source.ts';

/** A search may take a connection for a second: two at once per user, eight queued, then 429. */
const limitSearches = limitConcurrencyByKey<number>(2, { most: 8, refuse: () => tooManyConcurrent(1) });

export const loggingHandlers: HandlersOf<typeof api.logging> = {
  async query(ctx, { source, ...question }) {
    const containerId = await containerOf(ctx, source);
    if (containerId === null) return { isSuccess: true, lines: [], gaps: [], runs: [], hasBefore: false, lastSeq: 0 };
    const answer = () => queryLines(ctx.db, containerId, question);
    const isSearch = question.mode === 'regex' && question.text !== '';
    return { isSuccess: true, ...(isSearch ? await limitSearches(ctx.user.id, answer) : await answer()) };
  },
};
