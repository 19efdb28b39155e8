import type { Seats } from '@stagi/contract/invites.ts';
import { PLAN_LIMITS } from '@stagi/contract/planLimits.ts';
import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';

/** The members of a workspace and the limit of its plan. */
export async function seatsOf(db: Db, workspaceId: number): Promise<Seats> {
  const { plan, used } = await db
    .selectFrom('workspace')
    .select('plan')
    .select(sql<number>`(select count(*)::int from membership m where m.workspace_id = workspace.id)`.as('used'))
    .where('id', '=', workspaceId)
    .executeTakeFirstOrThrow();
  return { plan, used, limit: PLAN_LIMITS[plan].members };
}
