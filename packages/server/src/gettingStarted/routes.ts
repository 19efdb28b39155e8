import type { api } from '@stagi/contract/api.ts';
import { sql } from 'kysely';
import type { HandlersOf } from '../http/handlers.ts';
import { presentProfile } from '../users/present.ts';
import { firstSteps } from './firstSteps.ts';

export const gettingStartedHandlers: HandlersOf<typeof api.gettingStarted> = {
  async view({ db, user, workspace }) {
    const { container_id, ...done } = await firstSteps(db, { userId: user.id, workspaceId: workspace.id });
    return { isSuccess: true, done, containerId: container_id };
  },
  async edit(ctx, { closed = false, logSeen = false }) {
    await ctx.db
      .updateTable('app_user')
      .set({
        getting_started_closed_at: firstTime('getting_started_closed_at', closed),
        log_seen_at: firstTime('log_seen_at', logSeen),
      })
      .where('id', '=', ctx.user.id)
      .execute();
    const user = { ...ctx.user, isGettingStarted: ctx.user.isGettingStarted && !closed };
    return { isSuccess: true, userProfile: await presentProfile({ ...ctx, user }) };
  },
};

/** The time that a column holds, or now where it happens for the first time. */
function firstTime(column: string, happens: boolean) {
  return sql<Date | null>`case when ${happens} then coalesce(${sql.ref(column)}, now()) else ${sql.ref(column)} end`;
}
