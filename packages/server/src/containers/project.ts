import type { Ref } from '@stagi/contract/page.ts';
import { holdsAny, type Permission } from '@stagi/contract/permissions.ts';
import { projectCan } from '@stagi/contract/projectRules.ts';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import { announce } from '../bus/bus.ts';
import { invalid, notFound } from '../http/errors.ts';
import { isId } from '../http/paging.ts';
import type { Viewer } from './access.ts';

const READ: readonly Permission[] = ['PROJECT', 'PROJECT_MANAGEMENT'];

/** A project of the workspace that the caller may see. */
export async function visibleProject({ db, workspace }: Viewer, ref: Ref): Promise<{ id: number }> {
  const row = await projectOf(db, workspace.id, ref).executeTakeFirst();
  if (!row || !holdsAny(workspace.permissions, READ)) throw notFound();
  return row;
}

/** The project that new containers belong to. It is neither archived nor deleted before they are stored. */
export async function lockProjectOfContainer({ db, workspace }: Viewer, ref: Ref): Promise<number> {
  const row = await projectOf(db, workspace.id, ref).forShare().executeTakeFirst();
  if (!row || row.closed_at || !holdsAny(workspace.permissions, READ))
    throw invalid(text('This project cannot be chosen'), 'projectRef');
  const verdict = projectCan.change(row);
  if (!verdict.allowed) throw invalid(verdict.reason, 'projectRef');
  await announce(db, 'changed', { entity: 'project', id: row.id, workspaceId: workspace.id });
  return row.id;
}

const projectOf = (db: Viewer['db'], workspaceId: number, ref: Ref) =>
  db
    .selectFrom('project')
    .select(['id', 'status', 'closed_at'])
    .where('workspace_id', '=', workspaceId)
    .where('id' in ref ? isId('id', ref.id) : sql<boolean>`slug = ${ref.slug} and closed_at is null`);
