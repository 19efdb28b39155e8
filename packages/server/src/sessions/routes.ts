import type { api } from '@stagi/contract/api.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { pageOf } from '../http/paging.ts';
import { listSessions, presentSession } from './list.ts';
import { revokeOtherBrowsers, revokeOwnSession } from './sessions.ts';

export const sessionHandlers: HandlersOf<typeof api.sessions> = {
  async list(ctx, { entityFilterRequest }) {
    const whose = { userId: ctx.user.id, currentId: ctx.session.id };
    const { rows, count } = await listSessions(ctx.db, whose, entityFilterRequest);
    return pageOf(
      rows.map((row) => presentSession(row, ctx.session.id)),
      count,
      entityFilterRequest,
    );
  },
  async revoke(ctx, which) {
    if ('others' in which) {
      return {
        isSuccess: true,
        ended: await revokeOtherBrowsers(ctx.db, ctx.user.id, ctx.session.id),
      };
    }
    return { isSuccess: true, ended: await revokeOwnSession(ctx.db, ctx.user.id, which.id) };
  },
};
