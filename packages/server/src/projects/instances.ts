import type { api } from '@stagi/contract/api.ts';
import type { ParsedInputOf } from '@stagi/contract/call.ts';
import type { EntityFilterRequest, Ref } from '@stagi/contract/page.ts';
import { holdsAny, type Permission } from '@stagi/contract/permissions.ts';
import { projectCan } from '@stagi/contract/projectRules.ts';
import type { ProjectInstance } from '@stagi/contract/projects.ts';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import { announce } from '../bus/bus.ts';
import type { Context } from '../context.ts';
import type { InstanceTable } from '../db/computeTables.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { notFound, refused } from '../http/errors.ts';
import { contains, isId, offsetOf, pageOf, sortColumn } from '../http/paging.ts';
import { recordProjectActivity } from './activity.ts';
import { lockProject, type ProjectView } from './find.ts';
import { announceProject } from './status.ts';

type Caller = Context & { user: { id: number }; workspace: { id: number; permissions: readonly Permission[] } };
type Kind = InstanceTable['kind'];

/** The permissions, of which one is needed to see a server of each kind. */
const SEES: Record<Kind, readonly Permission[]> = {
  rented: ['INSTANCE_RENTED', 'INSTANCE_RENTED_MANAGEMENT'],
  'self-hosted': ['SELFHOSTED_INSTANCE', 'SELFHOSTED_INSTANCE_MANAGEMENT'],
};

const SORTABLE: Record<string, string> = {
  createdAt: 'project_instance.attached_at',
  attachedAt: 'project_instance.attached_at',
  title: 'instance.title',
  slug: 'instance.slug',
  status: 'instance.status',
  kind: 'instance.kind',
};

/** Open servers that are attached to a project, whose ownership the caller has checked. */
export async function listProjectInstances(db: Db, projectId: number, request: EntityFilterRequest) {
  let all = db
    .selectFrom('project_instance')
    .innerJoin('instance', 'instance.id', 'project_instance.instance_id')
    .leftJoin('app_user', 'app_user.id', 'project_instance.attached_by')
    .where('project_instance.project_id', '=', projectId)
    .where('instance.closed_at', 'is', null);
  if (request.statuses?.length) all = all.where('instance.status', 'in', request.statuses);
  if (request.queryString) all = all.where(contains(['instance.title', 'instance.slug'], request.queryString));
  const [rows, { count }] = await Promise.all([
    all
      .select([
        'instance.id',
        'instance.kind',
        'instance.slug',
        'instance.title',
        'instance.status',
        'project_instance.attached_at',
        'app_user.name as attacher',
      ])
      .orderBy(sql.ref(sortColumn(request, SORTABLE)), request.orderByDirection)
      .orderBy('instance.id', request.orderByDirection)
      .limit(request.limit)
      .offset(offsetOf(request))
      .execute(),
    all.select(sql<number>`count(*)::int`.as('count')).executeTakeFirstOrThrow(),
  ]);
  const entities = rows.map(
    ({ attached_at, attacher, ...instance }): ProjectInstance => ({
      instance,
      attachedAt: attached_at.toISOString(),
      attachedBy: attacher,
    }),
  );
  return pageOf(entities, count, request);
}

export async function attachInstance(
  ctx: Caller,
  { projectRef, instanceRef }: ParsedInputOf<typeof api.projects.attachInstance>,
): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const project = await lockChangeable(ctx, trx, projectRef);
    const instance = await findServer(trx, ctx.workspace.id, instanceRef);
    if (!instance || !holdsAny(ctx.workspace.permissions, SEES[instance.kind])) throw notFound();
    if (instance.closed_at) throw refused(text('This server exists no more'));
    const added = await trx
      .insertInto('project_instance')
      .values({ project_id: project.id, instance_id: instance.id, attached_by: ctx.user.id })
      .onConflict((conflict) => conflict.doNothing())
      .returning('instance_id')
      .executeTakeFirst();
    if (added) await noted(ctx, trx, project, instance, 'instance attached');
  });
}

export async function detachInstance(
  ctx: Caller,
  { projectRef, instanceRef }: ParsedInputOf<typeof api.projects.detachInstance>,
): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const project = await lockChangeable(ctx, trx, projectRef);
    const instance = await findServer(trx, ctx.workspace.id, instanceRef);
    if (!instance) throw notFound();
    const removed = await trx
      .deleteFrom('project_instance')
      .where('project_id', '=', project.id)
      .where('instance_id', '=', instance.id)
      .returning('instance_id')
      .executeTakeFirst();
    if (removed) await noted(ctx, trx, project, instance, 'instance detached');
  });
}

async function lockChangeable(ctx: Caller, trx: Db, ref: Ref): Promise<ProjectView> {
  const project = await lockProject(trx, ctx.workspace.id, ref);
  const verdict = projectCan.change(project);
  if (!verdict.allowed) throw refused(verdict.reason);
  return project;
}

interface Server {
  id: number;
  kind: Kind;
  closed_at: Date | null;
}

function findServer(trx: Db, workspaceId: number, ref: Ref): Promise<Server | undefined> {
  return trx
    .selectFrom('instance')
    .select(['id', 'kind', 'closed_at'])
    .where('workspace_id', '=', workspaceId)
    .where('id' in ref ? isId('id', ref.id) : sql<boolean>`slug = ${ref.slug} and closed_at is null`)
    .executeTakeFirst();
}

async function noted(
  ctx: Caller,
  trx: Db,
  project: ProjectView,
  instance: Server,
  kind: 'instance attached' | 'instance detached',
): Promise<void> {
  await recordProjectActivity(trx, project.id, { kind, actorId: ctx.user.id, instanceId: instance.id });
  await announceProject(trx, project);
  const entity = instance.kind === 'rented' ? 'instance-rented' : 'self-hosted-instance';
  await announce(trx, 'changed', { entity, id: instance.id, workspaceId: ctx.workspace.id });
}
