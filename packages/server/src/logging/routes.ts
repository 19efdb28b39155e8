import type { api } from '@stagi/contract/api.ts';
import { visibleContainer } from '../containers/access.ts';
import { tooManyAtOnce } from '../http/errors.ts';
import type { HandlersOf } from '../http/mount.ts';
import { takeTurnsByKey } from '../turns.ts';
import { queryLines } from './query.ts';

/** A search may hold a connection for a second: two at once for each person, a few that wait, then 429. */
const inTurn = takeTurnsByKey<number>(2, { most: 8, refuse: () => tooManyAtOnce(1) });

export const loggingHandlers: HandlersOf<typeof api.logging> = {
  async query(ctx, { source, ...question }) {
    const container = await visibleContainer(ctx, { id: source.id });
    const answer = () => queryLines(ctx.db, container.id, question);
    const isSearch = question.mode === 'regex' && question.text !== '';
    return { isSuccess: true, ...(isSearch ? await inTurn(ctx.user.id, answer) : await answer()) };
  },
};
