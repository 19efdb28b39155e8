import type { api } from '@stagi/contract/api.ts';
import { visibleContainer } from '../containers/access.ts';
import type { HandlersOf } from '../http/mount.ts';
import { queryLines } from './query.ts';

export const loggingHandlers: HandlersOf<typeof api.logging> = {
  async query(ctx, { source, ...question }) {
    const container = await visibleContainer(ctx, { id: source.id });
    return { isSuccess: true, ...(await queryLines(ctx.db, container.id, question)) };
  },
};
