import { TASKS_FEATURE } from '@stagi/contract/daemon.ts';
import type { MachineFacts } from '@stagi/contract/instances.ts';
import type { Ref } from '@stagi/contract/page.ts';
import type { TaskServer } from '@stagi/contract/tasks.ts';
import { text } from '@stagi/contract/text.ts';
import { type RawBuilder, sql } from 'kysely';
import { presentPrice } from '../billing/price.ts';
import { allocatedOn, type ServerSize, sizeOf } from '../containers/capacity.ts';
import type { Context } from '../context.ts';
import type { Db, InstanceRow } from '../db/schema.ts';
import { invalid } from '../http/errors.ts';
import { isId } from '../http/paging.ts';

/** A server as tasks see it. */
export interface ServerRow
  extends Pick<
    InstanceRow,
    'id' | 'kind' | 'slug' | 'title' | 'status' | 'offer' | 'price_per_hour' | 'closed_at' | 'desired'
  > {
  facts: MachineFacts | null;
  /** Null until its daemon has connected. */
  features: string[] | null;
  isAttached: boolean;
}

const selectServers = (projectId: number) => sql`select i.id, i.kind, i.slug, i.title, i.status, i.offer,
    i.price_per_hour, i.closed_at, i.desired, node.facts, node.features,
    exists (select 1 from project_instance a where a.project_id = ${projectId} and a.instance_id = i.id) as "isAttached"
  from instance i left join daemon_node node on node.instance_id = i.id`;

/** Why a server takes no tasks of the project; null: it takes them, now or once it is online. */
export function refusalOf({ closed_at, desired, facts, features, offer, isAttached }: ServerRow): string | null {
  if (closed_at || desired === 'gone') return text('This server exists no more');
  if (!isAttached) return text('This server is not attached to the project');
  if (!facts) return offer ? null : text('This server has not been set up yet');
  return features?.includes(TASKS_FEATURE) ? null : text('The agent of this server is too old to run tasks');
}

/** SQL: the same of the table or alias `instance`. */
export const pricePerHour = (instance: 'i' | 'instance') =>
  sql<bigint>`case when ${sql.ref(`${instance}.kind`)} = 'rented' then coalesce(${sql.ref(`${instance}.price_per_hour`)}, 0) else 0 end`;

export const pricePerHourOf = ({ kind, price_per_hour }: Pick<InstanceRow, 'kind' | 'price_per_hour'>): bigint =>
  kind === 'rented' ? (price_per_hour ?? 0n) : 0n;

/** The server of a task, which takes it and is large enough for it. */
export async function requireServer(
  db: Db,
  workspaceId: number,
  projectId: number,
  { instanceRef, cpus, gpuCount }: { instanceRef: Ref; cpus: number; gpuCount: number },
): Promise<{ id: number; size: ServerSize }> {
  const named: RawBuilder<boolean> =
    'id' in instanceRef ? isId('i.id', instanceRef.id) : sql`i.slug = ${instanceRef.slug} and i.closed_at is null`;
  const { rows } = await sql<ServerRow>`${selectServers(projectId)}
    where i.workspace_id = ${workspaceId} and ${named}`.execute(db);
  const server = rows[0];
  const refusal = server ? refusalOf(server) : text('This server cannot be chosen');
  if (!server || refusal) throw invalid(refusal!, 'instanceRef');
  const size = sizeOf(server, server.facts)!;
  if (cpus > size.cpus) throw invalid(text('CPUs: at most {{cpus}} on this server'), 'cpus', { cpus: size.cpus });
  if (gpuCount > size.gpuIds.length)
    throw size.gpuIds.length === 0
      ? invalid(text('This server has no GPUs'), 'gpuCount')
      : invalid(text('GPUs: at most {{gpus}} on this server'), 'gpuCount', { gpus: size.gpuIds.length });
  return { id: server.id, size };
}

/** The open servers that are attached to a project, with what is free of them now. */
export async function attachedServers(ctx: Pick<Context, 'config'>, db: Db, projectId: number): Promise<TaskServer[]> {
  const { rows } = await sql<ServerRow>`${selectServers(projectId)}
    where i.closed_at is null
      and i.id in (select a.instance_id from project_instance a where a.project_id = ${projectId})
    order by i.title, i.id`.execute(db);
  const ids = rows.map(({ id }) => id);
  const [taken, waiting] = await Promise.all([allocatedOn(db, ids), waitingOn(db, ids)]);
  return rows.map((row) => {
    const size = sizeOf(row, row.facts);
    const held = taken.get(row.id);
    const free = (size?.gpuIds ?? []).filter((gpu) => !held?.gpuIds.includes(gpu));
    return {
      id: row.id,
      kind: row.kind,
      slug: row.slug,
      title: row.title,
      status: row.status,
      cpus: size?.cpus ?? null,
      gpus: row.facts?.gpus.map(({ index, name }) => ({ index, name })) ?? namedGpus(row),
      freeCpus: Math.max(0, Math.round(((size?.cpus ?? 0) - (held?.cpus ?? 0)) * 10) / 10),
      freeGpus: free.length,
      waiting: waiting.get(row.id) ?? 0,
      pricePerHour: presentPrice(ctx.config, pricePerHourOf(row)),
      refusal: refusalOf(row),
      ...(row.facts && !row.facts.launch ? { stopsInTenSeconds: true } : {}),
    };
  });
}

/** Of a server that has been rented and has not come up yet. */
const namedGpus = ({ offer }: ServerRow): TaskServer['gpus'] =>
  Array.from({ length: offer?.gpu?.count ?? 0 }, (_, index) => ({ index, name: offer!.gpu!.name }));

/** SQL: whether the task `t` waits for room on its server. */
export const WAITS_FOR_ROOM = sql<boolean>`(t.status in ('new', 'in queue') and not t.placed)`;

async function waitingOn(db: Db, instanceIds: readonly number[]): Promise<ReadonlyMap<number, number>> {
  const { rows } = await sql<{ id: number; count: number }>`select t.instance_id as id, count(*)::int as count
    from task t where t.instance_id = any(${instanceIds}::int[]) and ${WAITS_FOR_ROOM} group by t.instance_id`.execute(
    db,
  );
  return new Map(rows.map(({ id, count }) => [id, count]));
}
