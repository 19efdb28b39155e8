import type { api } from '@stagi/contract/api.ts';
import type { OutputOf, ParsedInputOf } from '@stagi/contract/call.ts';
import { limitsOf } from '@stagi/contract/planLimits.ts';
import { sql } from 'kysely';
import type { TaskRow } from '../db/schema.ts';
import type { Member } from '../http/handlers.ts';
import { viewProject } from '../projects/find.ts';
import { viewTask } from './find.ts';
import { presentFields } from './present.ts';
import { runsToday } from './quota.ts';
import { attachedServers } from './servers.ts';

type Output = OutputOf<typeof api.tasks.form>;

const PROJECTS_OFFERED = 100;
const STORAGES_OFFERED = 200;

export async function taskForm(
  ctx: Member,
  { projectRef, cloneOf }: ParsedInputOf<typeof api.tasks.form>,
): Promise<Output> {
  const { db, workspace } = ctx;
  const asked = projectRef && (await viewProject(db, workspace.id, projectRef));
  const cloned = cloneOf && (await viewTask(ctx, cloneOf));
  const source = cloned ?? (asked && (await lastTask(ctx, asked.id))) ?? (await lastTask(ctx));
  const projects = await activeProjects(ctx, asked?.id ?? source?.project_id);
  const isOffered = (id: number | undefined): boolean => projects.some((project) => project.id === id);
  const wanted = [asked?.id, source?.project_id].find(isOffered);
  const projectId = wanted ?? (projects.length === 1 ? projects[0]!.id : null);
  return {
    isSuccess: true,
    projects,
    projectId,
    instances: projectId === null ? [] : await attachedServers(ctx, db, projectId),
    storages: await usableStorages(ctx),
    // A clone runs the same commit; a new task the branch as it is now.
    values: source ? presentFields(source, (cloned ? null : source.commit_ref) ?? source.commit_sha) : null,
    valuesOf: source ? { id: source.id, ordinal: source.ordinal, title: source.title } : null,
    runsToday: { used: await runsToday(db, workspace), limit: limitsOf(workspace).runsPerDay },
  };
}

/** The last one that the caller has started by hand. */
async function lastTask({ db, user, workspace }: Member, projectId?: number): Promise<TaskRow | undefined> {
  return db
    .selectFrom('task')
    .selectAll()
    .where('workspace_id', '=', workspace.id)
    .where('created_by', '=', user.id)
    .where('schedule_id', 'is', null)
    .$if(projectId !== undefined, (query) => query.where('project_id', '=', projectId!))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** The first ones by title, and the one that the form begins with. */
async function activeProjects({ db, workspace }: Member, wanted: number | undefined): Promise<Output['projects']> {
  const { rows } = await sql<Output['projects'][number]>`select id, slug, title, default_branch as "defaultBranch",
      is_empty as "isEmpty"
    from project where workspace_id = ${workspace.id} and status = 'active'
    order by id is not distinct from ${wanted ?? null}::int desc, title, id limit ${PROJECTS_OFFERED}`.execute(db);
  return rows.toSorted((a, b) => a.title.localeCompare(b.title));
}

async function usableStorages({ db, workspace }: Member): Promise<Output['storages']> {
  const { rows } = await sql<Output['storages'][number]>`select s.id, s.slug, s.title, s.status,
      w.exhausted_at is not null as "readOnly"
    from storage s join workspace w on w.id = s.workspace_id
    where s.workspace_id = ${workspace.id} and s.kind = 'storage' and s.status = 'rented'
    order by s.title, s.id limit ${STORAGES_OFFERED}`.execute(db);
  return rows;
}
