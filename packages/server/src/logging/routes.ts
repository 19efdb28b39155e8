import type { api } from '@stagi/contract/api.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { asPerson } from '../slots/holder.ts';
import { queryLines } from './query.ts';
import { containerOf } from './source.ts';

export const loggingHandlers: HandlersOf<typeof api.logging> = {
  async query(ctx, { source, ...question }) {
    const containerId = await containerOf(ctx, source);
    if (containerId === null) return { isSuccess: true, lines: [], gaps: [], runs: [], hasBefore: false, lastSeq: 0 };
    if (question.text === '') return { isSuccess: true, ...(await queryLines(ctx.db, containerId, question)) };
    const release = await ctx.slots.logSearches.take(asPerson(ctx.user.id, ctx.workspace.id));
    try {
      return { isSuccess: true, ...(await queryLines(ctx.db, containerId, question)) };
    } finally {
      release();
    }
  },
};
