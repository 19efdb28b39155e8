import { randomBytes } from 'node:crypto';
import type { DesiredContainer, DesiredTask } from '@stagi/contract/desiredState.ts';
import { announce } from '../bus/bus.ts';
import type { Context } from '../context.ts';
import type { Db } from '../db/schema.ts';
import type { ServerSize } from './capacity.ts';
import { insertContainer } from './insert.ts';
import { announceServer } from './status.ts';

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
  stopGraceSeconds: number;
  env: DesiredContainer['spec']['env'];
  task: Omit<DesiredTask, 'token'>;
}

/**
 * Inserts the container of a run and notifies its server's daemon. Whoever calls holds the lock on the server's row and
 * has seen that there is room. Throws, before anything is changed, what the policy of the server forbids.
 */
export async function insertTaskContainer(
  ctx: Pick<Context, 'secrets'>,
  trx: Db,
  size: ServerSize,
  wanted: NewTaskContainer,
): Promise<number> {
  const id =
    (await insert(ctx, trx, size, wanted, wanted.slug)) ??
    (await insert(ctx, trx, size, wanted, `${wanted.slug}-${randomBytes(4).toString('hex')}`));
  if (id === null) throw new Error(`no name is free for run ${wanted.runId}`);
  await announce(trx, 'node', { instanceId: wanted.instanceId });
  await announce(trx, 'changed', { entity: 'docker-container', id, workspaceId: wanted.workspaceId });
  await announceServer(trx, wanted.instanceId);
  return id;
}

function insert(
  ctx: Pick<Context, 'secrets'>,
  trx: Db,
  size: ServerSize,
  wanted: NewTaskContainer,
  slug: string,
): Promise<number | null> {
  const { image, command, cpus, gpuIds, env, task } = wanted;
  const spec: DesiredContainer['spec'] = {
    image,
    command: [command],
    env,
    nanoCpus: Math.round(cpus * 1e9),
    memoryBytes: null,
    gpuIds,
    ports: [],
    directories: [],
    restartPolicy: 'no',
  };
  return insertContainer(
    ctx,
    trx,
    size,
    { slug, spec, task },
    {
      workspace_id: wanted.workspaceId,
      instance_id: wanted.instanceId,
      project_id: wanted.projectId,
      title: wanted.title,
      created_by: wanted.createdBy,
      command,
      cpus,
      stop_grace_seconds: wanted.stopGraceSeconds,
      task_run_id: wanted.runId,
      task_spec: JSON.stringify(task),
    },
  );
}
