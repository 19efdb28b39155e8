import type { DesiredContainer } from '@stagi/contract/desiredState.ts';
import type { PolicyTarget } from '@stagi/contract/policy.ts';
import { type Insertable, sql } from 'kysely';
import type { Context } from '../context.ts';
import type { ContainerTable } from '../db/computeTables.ts';
import type { Db } from '../db/schema.ts';
import { checkPolicy, type ServerSize } from './capacity.ts';
import { sealEnv } from './desired.ts';
import { DEADLINE_MINUTES } from './status.ts';

type Columns = Pick<
  Insertable<ContainerTable>,
  | 'workspace_id'
  | 'instance_id'
  | 'project_id'
  | 'title'
  | 'created_by'
  | 'command'
  | 'cpus'
  | 'memory_gb'
  | 'ports'
  | 'shm_mb'
  | 'health_check'
  | 'stop_grace_seconds'
  | 'entrypoint'
  | 'task_run_id'
  | 'task_spec'
>;

/**
 * The only place that inserts containers. It throws for one that the policy of its server forbids. Returns null when the
 * Unique ID is taken. `target.spec` says what is run; the columns hold it as it was asked for.
 */
export async function insertContainer(
  ctx: Pick<Context, 'secrets'>,
  trx: Db,
  size: ServerSize,
  target: PolicyTarget & { spec: DesiredContainer['spec'] },
  columns: Columns,
): Promise<number | null> {
  checkPolicy(size, target);
  const { slug, spec } = target;
  const row = await trx
    .insertInto('container')
    .values({
      ...columns,
      slug,
      status: 'creating',
      status_deadline: sql<Date>`now() + ${`${DEADLINE_MINUTES.creating} minutes`}::interval`,
      image: spec.image,
      gpu_ids: spec.gpuIds,
      directories: JSON.stringify(spec.directories),
      restart_policy: spec.restartPolicy,
      run_as: spec.user ?? null,
      capabilities: spec.capabilities ?? 'hardened',
      env_names: spec.env.map(({ name }) => name),
      env_secret: spec.env.filter(({ secret }) => secret).map(({ name }) => name),
      env_sealed: sealEnv(ctx, slug, spec.env),
    })
    .onConflict((conflict) => conflict.column('slug').where('deleted_at', 'is', null).doNothing())
    .returning('id')
    .executeTakeFirst();
  return row?.id ?? null;
}
