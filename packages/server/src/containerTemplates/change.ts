import type { api } from '@stagi/contract/api.ts';
import type { ParsedInputOf } from '@stagi/contract/call.ts';
import {
  type ContainerTemplate,
  canBeTemplate,
  TEMPLATES_MAX,
  templateFieldsOf,
} from '@stagi/contract/containerTemplates.ts';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import { requireManagement, type Viewer, visibleContainer } from '../containers/access.ts';
import { inTransaction } from '../db/pool.ts';
import { invalid, notFound, refused } from '../http/errors.ts';
import { isId } from '../http/paging.ts';
import { presentTemplate, templateById } from './queries.ts';

type Caller = Viewer & { user: { id: number } };

/** Saves what a container is made of. It can be any that is still listed, also one that could not be created. */
export function createTemplate(
  ctx: Caller,
  { containerRef, title, description }: ParsedInputOf<typeof api.containerTemplates.create>,
): Promise<ContainerTemplate> {
  return inTransaction(ctx.db, async (trx) => {
    const container = await visibleContainer({ ...ctx, db: trx }, containerRef);
    requireManagement(ctx, container.instance.kind);
    const verdict = canBeTemplate(container);
    if (!verdict.allowed) throw refused(verdict.reason);
    // One at a time, so that the limit holds.
    await sql`select pg_advisory_xact_lock(hashtextextended('container_template', ${ctx.workspace.id}))`.execute(trx);
    const { count } = await trx
      .selectFrom('container_template')
      .select(sql<number>`count(*)::int`.as('count'))
      .where('workspace_id', '=', ctx.workspace.id)
      .executeTakeFirstOrThrow();
    if (count >= TEMPLATES_MAX)
      throw refused(text('A workspace has at most {{most}} templates: delete one first'), { most: TEMPLATES_MAX });
    const row = await trx
      .insertInto('container_template')
      .values({
        workspace_id: ctx.workspace.id,
        title,
        description: description || null,
        fields: JSON.stringify(templateFieldsOf(container)),
        created_by: ctx.user.id,
      })
      .onConflict((conflict) => conflict.columns(['workspace_id', 'title']).doNothing())
      .returning('id')
      .executeTakeFirst();
    if (!row) throw invalid(text('There is a template with this title'), 'title');
    return presentTemplate(await templateById(trx, ctx.workspace.id, row.id));
  });
}

export async function deleteTemplate({ db, workspace }: Viewer, id: number): Promise<void> {
  const gone = await db
    .deleteFrom('container_template')
    .where(isId('id', id))
    .where('workspace_id', '=', workspace.id)
    .returning('id')
    .executeTakeFirst();
  if (!gone) throw notFound();
}
