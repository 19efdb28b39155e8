import type { ContainerTemplate } from '@stagi/contract/containerTemplates.ts';
import type { Db } from '../db/schema.ts';

interface TemplateRow {
  id: number;
  title: string;
  description: string | null;
  fields: ContainerTemplate['fields'];
  created_at: Date;
  creator: string | null;
}

const templatesOf = (db: Db, workspaceId: number) =>
  db
    .selectFrom('container_template as t')
    .leftJoin('app_user', 'app_user.id', 't.created_by')
    .select(['t.id', 't.title', 't.description', 't.fields', 't.created_at', 'app_user.name as creator'])
    .where('t.workspace_id', '=', workspaceId);

/** All of a workspace, the newest first. */
export function listTemplates(db: Db, workspaceId: number): Promise<TemplateRow[]> {
  return templatesOf(db, workspaceId).orderBy('t.id', 'desc').execute();
}

export function templateById(db: Db, workspaceId: number, id: number): Promise<TemplateRow> {
  return templatesOf(db, workspaceId).where('t.id', '=', id).executeTakeFirstOrThrow();
}

export function presentTemplate(row: TemplateRow): ContainerTemplate {
  return {
    id: row.id,
    title: row.title,
    description: row.description,
    createdAt: row.created_at.toISOString(),
    createdBy: row.creator,
    fields: row.fields,
  };
}
