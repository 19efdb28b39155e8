import type { api } from '@stagi/contract/api.ts';
import type { ParsedInputOf } from '@stagi/contract/call.ts';
import type { WorkspacePlan } from '@stagi/contract/planLimits.ts';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import { announce } from '../bus/bus.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import { invalid } from '../http/errors.ts';
import { recordProjectActivity } from './activity.ts';
import { queueImport } from './imports.ts';
import { requireProject } from './quota.ts';
import { announceProject } from './status.ts';

type Caller = Context & { user: { id: number }; workspace: { id: number } & WorkspacePlan };

/** Making a repository takes milliseconds; a disk that fails for so long fails the creation. */
const DEADLINE = sql`interval '10 minutes'`;

/** Stores a new project; the worker makes its repository, or whoever needs it first. Returns its id. */
export function createProject(
  ctx: Caller,
  { title, slug, description, importUrl }: ParsedInputOf<typeof api.projects.create>,
): Promise<number> {
  return inTransaction(ctx.db, async (trx) => {
    await requireProject(trx, ctx.workspace);
    const row = await trx
      .insertInto('project')
      .values({
        workspace_id: ctx.workspace.id,
        slug,
        title,
        description,
        created_by: ctx.user.id,
        status: 'creating',
        status_deadline: sql<Date>`clock_timestamp() + ${DEADLINE}`,
        next_at: sql<Date>`clock_timestamp()`,
      })
      .onConflict((conflict) => conflict.columns(['workspace_id', 'slug']).where('closed_at', 'is', null).doNothing())
      .returning(['id', 'workspace_id'])
      .executeTakeFirst();
    if (!row) throw invalid(text('This Unique ID is taken'), 'slug');
    await recordProjectActivity(trx, row.id, { kind: 'created', actorId: ctx.user.id });
    if (importUrl) await queueImport(trx, row, importUrl, ctx.user.id);
    await announceProject(trx, row);
    await announce(trx, 'due', { kind: 'project' });
    return row.id;
  });
}
