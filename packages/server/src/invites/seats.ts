import type { Seats } from '@stagi/contract/invites.ts';
import { limitsOf } from '@stagi/contract/planLimits.ts';
import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';

/** The members of a workspace and how many it may have. */
export async function seatsOf(db: Db, workspaceId: number): Promise<Seats> {
  const { plan, quotas, used } = await db
    .selectFrom('workspace')
    .select(['plan', 'quotas'])
    .select(sql<number>`(select count(*)::int from membership m where m.workspace_id = workspace.id)`.as('used'))
    .where('id', '=', workspaceId)
    .executeTakeFirstOrThrow();
  return { plan, used, limit: limitsOf({ plan, quotas }).members };
}
