import { randomBytes } from 'node:crypto';
import type { DesiredContainer, DesiredTask } from '@stagi/contract/daemon.ts';
import { sql } from 'kysely';
import { announce } from '../bus/bus.ts';
import type { Context } from '../context.ts';
import type { Db } from '../db/schema.ts';
import { sealEnv } from './desired.ts';
import { announceServer, DEADLINE_MINUTES } from './status.ts';

/** A run of a task that gets its place. */
export interface NewTaskContainer {
  runId: number;
  workspaceId: number;
  instanceId: number;
  projectId: number;
  /** A suffix makes it unique where it is taken. */
  slug: string;
  title: string;
  createdBy: number;
  image: string;
  command: string;
  cpus: number;
  gpuIds: number[];
  env: DesiredContainer['spec']['env'];
  spec: Omit<DesiredTask, 'token'>;
}

/**
 * Inserts the container of a run and notifies its server's daemon. Whoever calls holds the lock on the server's row and
 * has seen that there is room.
 */
export async function insertTaskContainer(
  ctx: Pick<Context, 'secrets'>,
  trx: Db,
  wanted: NewTaskContainer,
): Promise<number> {
  const id =
    (await insert(ctx, trx, wanted, wanted.slug)) ??
    (await insert(ctx, trx, wanted, `${wanted.slug}-${randomBytes(4).toString('hex')}`));
  if (id === null) throw new Error(`no name is free for run ${wanted.runId}`);
  await announce(trx, 'node', { instanceId: wanted.instanceId });
  await announce(trx, 'changed', { entity: 'docker-container', id, workspaceId: wanted.workspaceId });
  await announceServer(trx, wanted.instanceId);
  return id;
}

async function insert(
  ctx: Pick<Context, 'secrets'>,
  trx: Db,
  wanted: NewTaskContainer,
  slug: string,
): Promise<number | null> {
  const row = await trx
    .insertInto('container')
    .values({
      workspace_id: wanted.workspaceId,
      instance_id: wanted.instanceId,
      project_id: wanted.projectId,
      slug,
      title: wanted.title,
      created_by: wanted.createdBy,
      status: 'creating',
      status_deadline: sql<Date>`now() + ${`${DEADLINE_MINUTES.creating} minutes`}::interval`,
      image: wanted.image,
      command: wanted.command,
      cpus: wanted.cpus,
      memory_gb: null,
      gpu_ids: wanted.gpuIds,
      restart_policy: 'no',
      env_names: wanted.env.map(({ name }) => name),
      env_sealed: sealEnv(ctx, slug, wanted.env),
      task_run_id: wanted.runId,
      task_spec: JSON.stringify(wanted.spec),
    })
    .onConflict((conflict) => conflict.column('slug').where('deleted_at', 'is', null).doNothing())
    .returning('id')
    .executeTakeFirst();
  return row?.id ?? null;
}
