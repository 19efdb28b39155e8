import type { api } from '@stagi/contract/api.ts';
import type { ParsedInputOf } from '@stagi/contract/call.ts';
import type { ContainerStatus } from '@stagi/contract/containers.ts';
import type { Ref } from '@stagi/contract/page.ts';
import type { Permission } from '@stagi/contract/permissions.ts';
import { projectCan } from '@stagi/contract/projectRules.ts';
import { text } from '@stagi/contract/text.ts';
import { MANAGES } from '../containers/access.ts';
import { transitionContainer } from '../containers/status.ts';
import type { Context } from '../context.ts';
import type { InstanceTable } from '../db/computeTables.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { invalid, refused } from '../http/errors.ts';
import { lockProject, viewProject } from './find.ts';
import { endOpenImport } from './imports.ts';
import { transitionProject } from './status.ts';

type Caller = Context & { workspace: { id: number; permissions: readonly Permission[] } };

/** A server that does not answer within this time keeps its containers: the deletion fails and says so. */
const DEADLINE_MINUTES = 30;
const CONTAINERS_NAMED = 100;

/** A container that dies with its project. Those of its tasks end with the tasks, which their worker cancels. */
interface Doomed {
  id: number;
  slug: string;
  title: string;
  status: ContainerStatus;
  instance_id: number;
  instance_kind: InstanceTable['kind'];
  instance_slug: string;
  instance_title: string;
  instance_status: string;
  task_run_id: number | null;
}

/** What the dialog of the deletion names. */
export async function viewDeletion(ctx: Caller, ref: Ref) {
  const project = await viewProject(ctx.db, ctx.workspace.id, ref);
  const containers = ownContainers(await openContainersOf(ctx.db, project.id));
  const verdict = projectCan.delete(project);
  return {
    sizeBytes: Number(project.size_bytes),
    containers: containers.slice(0, CONTAINERS_NAMED).map((row) => ({
      id: row.id,
      slug: row.slug,
      title: row.title,
      status: row.status,
      instance: {
        id: row.instance_id,
        slug: row.instance_slug,
        title: row.instance_title,
        status: row.instance_status,
      },
      canManage: mayManage(ctx, row),
    })),
    containerCount: containers.length,
    taskCount: project.task_ordinal,
    refusal: verdict.allowed ? refusalOf(ctx, containers) : verdict.reason,
  };
}

/** Deletes a project and its containers; the worker waits until they are gone and removes the repository. */
export async function deleteProject(
  ctx: Caller,
  { id, slugTyped }: ParsedInputOf<typeof api.projects.delete>,
): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    // No container is created in a project whose row is locked.
    const project = await lockProject(trx, ctx.workspace.id, { id });
    const verdict = projectCan.delete(project);
    if (!verdict.allowed) throw refused(verdict.reason);
    if (slugTyped !== project.slug) throw invalid(text('This is not the Unique ID of the project'), 'slugTyped');
    const containers = ownContainers(await openContainersOf(trx, project.id));
    const refusal = refusalOf(ctx, containers);
    if (refusal) throw refused(refusal);
    await endOpenImport(ctx, trx, project, text('The project was deleted'));
    for (const container of containers) {
      const to = container.status === 'creation failed' ? 'deleted' : 'terminating';
      await transitionContainer(trx, container.id, to, { desired: 'absent' });
    }
    await transitionProject(ctx, trx, project.id, 'deleting', { deadlineMinutes: DEADLINE_MINUTES });
  });
}

/** Without those of tasks: who may delete the project may end its tasks. */
const ownContainers = (all: readonly Doomed[]): Doomed[] => all.filter(({ task_run_id }) => task_run_id === null);

const mayManage = ({ workspace }: Caller, container: Doomed): boolean =>
  workspace.permissions.includes(MANAGES[container.instance_kind]);

function refusalOf(ctx: Caller, containers: readonly Doomed[]): string | null {
  const kept = containers.find((container) => container.status !== 'terminating' && !mayManage(ctx, container));
  if (!kept) return null;
  return text('You may not delete its container “{{container}}” on “{{server}}”', {
    container: kept.title,
    server: kept.instance_title,
  });
}

/** Containers of a project that are not seen gone yet, in the order of their ids, in which they are locked. */
export function openContainersOf(db: Db, projectId: number): Promise<Doomed[]> {
  return db
    .selectFrom('container')
    .innerJoin('instance', 'instance.id', 'container.instance_id')
    .select([
      'container.id',
      'container.slug',
      'container.title',
      'container.status',
      'container.task_run_id',
      'instance.id as instance_id',
      'instance.kind as instance_kind',
      'instance.slug as instance_slug',
      'instance.title as instance_title',
      'instance.status as instance_status',
    ])
    .where('container.project_id', '=', projectId)
    .where('container.deleted_at', 'is', null)
    .orderBy('container.id')
    .execute();
}
