import { MAX_FRAME_BYTES } from '@stagi/contract/daemon.ts';
import type { DesiredContainer } from '@stagi/contract/desiredState.ts';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { ContainerRow, Db } from '../db/schema.ts';
import { splitCommand } from './splitCommand.ts';
import { taskToken } from './taskToken.ts';

/** The desired state of a server is sent signed, in base64, in one frame of the link. */
export const DOCUMENT_MAX_BYTES = MAX_FRAME_BYTES * 0.7;

/** A server that nobody pays for is stopped after 60 s: the logs of its programs must have arrived by then. */
const GRACE_AT_ZERO_SECONDS = 45;

/** The size of the desired state of one server's containers. */
export async function desiredBytes(ctx: Pick<Context, 'secrets'>, db: Db, instanceId: number): Promise<number> {
  return Buffer.byteLength(JSON.stringify(await desiredContainers(ctx, db, instanceId)));
}

/** The desired state of one server's containers. */
export async function desiredContainers(
  ctx: Pick<Context, 'secrets'>,
  db: Db,
  instanceId: number,
): Promise<DesiredContainer[]> {
  return (await desiredContainersByServer(ctx, db, new Map([[instanceId, []]]))).get(instanceId) ?? [];
}

/**
 * The desired state of the containers of several servers. A deleted container that a server still shows (`shown`: ids by
 * server) is listed as absent, so that a creation under way during the deletion leaves no orphan.
 */
export async function desiredContainersByServer(
  ctx: Pick<Context, 'secrets'>,
  db: Db,
  shown: ReadonlyMap<number, readonly number[]>,
): Promise<Map<number, DesiredContainer[]>> {
  const servers = sql<number>`any(${[...shown.keys()]}::int[])`;
  const shownIds = [...shown.values()].flat();
  let all = db.selectFrom('container').selectAll().where('instance_id', '=', servers).where('deleted_at', 'is', null);
  if (shownIds.length > 0) {
    all = all.unionAll(
      db
        .selectFrom('container')
        .selectAll()
        .where('id', '=', sql<number>`any(${shownIds}::int[])`)
        .where('instance_id', '=', servers)
        .where('deleted_at', 'is not', null),
    );
  }
  const rows = await all.orderBy('id').execute();
  const listed = rows.filter((row) => !row.deleted_at || shown.get(row.instance_id)?.includes(row.id));
  const atZero = await workspacesAtZero(db, listed);
  const byServer = new Map<number, DesiredContainer[]>();
  for (const row of listed) {
    const list = byServer.get(row.instance_id) ?? [];
    list.push(desiredContainer(ctx, row, atZero.has(row.workspace_id)));
    byServer.set(row.instance_id, list);
  }
  return byServer;
}

/** Those of these containers whose balance is used up. */
async function workspacesAtZero(db: Db, rows: readonly ContainerRow[]): Promise<ReadonlySet<number>> {
  const ids = [...new Set(rows.map(({ workspace_id }) => workspace_id))];
  const found = await db
    .selectFrom('workspace')
    .select('id')
    .where('id', '=', sql<number>`any(${ids}::int[])`)
    .where('exhausted_at', 'is not', null)
    .execute();
  return new Set(found.map(({ id }) => id));
}

function desiredContainer(ctx: Pick<Context, 'secrets'>, row: ContainerRow, isAtZero: boolean): DesiredContainer {
  const state = row.deleted_at ? 'absent' : row.desired;
  return {
    id: row.id,
    gen: row.gen,
    specNo: row.spec_no,
    slug: row.slug,
    state,
    stopGraceSeconds: isAtZero ? Math.min(row.stop_grace_seconds, GRACE_AT_ZERO_SECONDS) : row.stop_grace_seconds,
    ...(row.task_spec && row.task_run_id ? { task: { ...row.task_spec, token: taskToken(ctx, row.task_run_id) } } : {}),
    spec: specOf(row, state === 'absent' ? [] : openEnv(ctx, row)),
  };
}

function specOf(row: ContainerRow, env: DesiredContainer['spec']['env']): DesiredContainer['spec'] {
  return {
    image: row.image,
    command: commandOf(row),
    env,
    nanoCpus: Math.round(Number(row.cpus) * 1e9),
    memoryBytes: row.memory_gb === null ? null : Math.round(Number(row.memory_gb) * 2 ** 30),
    gpuIds: row.gpu_ids,
    ports: specPorts(row.ports),
    directories: row.directories,
    restartPolicy: row.restart_policy,
    ...(row.entrypoint === null ? {} : { entrypoint: splitCommand(row.entrypoint) }),
    ...(row.run_as === null ? {} : { user: row.run_as }),
    ...(row.capabilities === 'hardened' ? {} : { capabilities: row.capabilities }),
    ...(row.shm_mb === null ? {} : { shmBytes: row.shm_mb * 2 ** 20 }),
    ...(row.health_check === null ? {} : { healthCheck: row.health_check }),
  };
}

/** Public ports are bound openly, others on loopback. */
export const specPorts = (ports: ContainerRow['ports']): DesiredContainer['spec']['ports'] =>
  ports.map(({ host, container, visibility }) => ({ host, container, public: visibility === 'public' }));

/** A task's line is for a shell. */
function commandOf({ command, task_spec }: ContainerRow): string[] | null {
  if (command === null) return null;
  return task_spec ? [command] : splitCommand(command);
}

type Env = DesiredContainer['spec']['env'];

export function sealEnv(ctx: Pick<Context, 'secrets'>, slug: string, env: Env): string {
  return ctx.secrets.seal(JSON.stringify(env), sealContext(slug));
}

export function openEnv(ctx: Pick<Context, 'secrets'>, row: Pick<ContainerRow, 'slug' | 'env_sealed'>): Env {
  return JSON.parse(ctx.secrets.open(row.env_sealed, sealContext(row.slug))) as Env;
}

/** Bound to the slug, which is unique on the platform, as the row's id is not known yet when its environment is sealed. */
function sealContext(slug: string): string {
  return `container|env|${slug}`;
}
