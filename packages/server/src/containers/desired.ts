import type { DesiredContainer } from '@stagi/contract/daemon.ts';
import type { Context } from '../context.ts';
import type { ContainerRow, Db } from '../db/schema.ts';
import { splitCommand } from './splitCommand.ts';

/**
 * What a server's containers should be. One that was deleted here and still shows there is listed as absent, so that
 * nothing stays behind when a creation was on its way while it was deleted.
 */
export async function desiredContainers(
  ctx: Pick<Context, 'secrets'>,
  db: Db,
  instanceId: number,
  shownIds: readonly number[],
): Promise<DesiredContainer[]> {
  const rows = await db
    .selectFrom('container')
    .selectAll()
    .where('instance_id', '=', instanceId)
    .where((where) =>
      where.or([where('deleted_at', 'is', null), ...(shownIds.length > 0 ? [where('id', 'in', [...shownIds])] : [])]),
    )
    .orderBy('id')
    .execute();
  return rows.map((row) => desiredContainer(ctx, row));
}

function desiredContainer(ctx: Pick<Context, 'secrets'>, row: ContainerRow): DesiredContainer {
  const state = row.deleted_at ? 'absent' : row.desired;
  return {
    id: row.id,
    gen: row.gen,
    slug: row.slug,
    state,
    spec: specOf(row, state === 'absent' ? [] : openEnv(ctx, row)),
  };
}

function specOf(row: ContainerRow, env: DesiredContainer['spec']['env']): DesiredContainer['spec'] {
  return {
    image: row.image,
    command: row.command === null ? null : splitCommand(row.command),
    env,
    nanoCpus: Math.round(Number(row.cpus) * 1e9),
    memoryBytes: row.memory_gb === null ? null : Math.round(Number(row.memory_gb) * 2 ** 30),
    gpuIds: row.gpu_ids,
    ports: row.ports.map(({ host, container }) => ({ host, container })),
    directories: row.directories,
    restartPolicy: row.restart_policy,
  };
}

type Env = DesiredContainer['spec']['env'];

export function sealEnv(ctx: Pick<Context, 'secrets'>, slug: string, env: Env): string {
  return ctx.secrets.seal(JSON.stringify(env), placeOf(slug));
}

function openEnv(ctx: Pick<Context, 'secrets'>, row: ContainerRow): Env {
  return JSON.parse(ctx.secrets.open(row.env_sealed, placeOf(row.slug))) as Env;
}

/** The row's id is not known before its environment is sealed; the slug is unique on the platform. */
function placeOf(slug: string): string {
  return `container|env|${slug}`;
}
