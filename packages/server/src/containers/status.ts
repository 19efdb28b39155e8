import { CONTAINER_MOVES, type ContainerStatus } from '@stagi/contract/containers.ts';
import type { ActualContainer } from '@stagi/contract/daemon.ts';
import { sql } from 'kysely';
import { announce } from '../bus/bus.ts';
import type { ContainerRow, Db } from '../db/schema.ts';

/** Minutes after which a status that should pass counts as stuck. Pulling an image moves its own deadline on. */
export const DEADLINE_MINUTES: Partial<Record<ContainerStatus, number>> = {
  creating: 25,
  starting: 5,
  rebooting: 3,
  stopping: 3,
};

export interface Evidence {
  reason?: string | null;
  /** Columns that the same observation tells. */
  seen?: Partial<Pick<ContainerRow, 'docker_id' | 'exit_code' | 'started_at' | 'finished_at'>>;
  /** What else the caller decides with the move; `gen` grows with it. */
  desired?: ContainerRow['desired'];
}

/**
 * The one door through which a container's status changes. Moves it when the table allows, else leaves the status as
 * it is; what was seen is kept either way. Answers whether the container now has the status `to`.
 */
export async function moveContainer(
  trx: Db,
  id: number,
  to: ContainerStatus,
  evidence: Evidence = {},
): Promise<boolean> {
  const row = await trx
    .selectFrom('container')
    .select(['status', 'status_reason', 'workspace_id', 'instance_id', 'deleted_at'])
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (!row || row.deleted_at) return false;
  const moves = row.status !== to;
  const allowed = !moves || CONTAINER_MOVES[row.status].includes(to);
  const reason = evidence.reason === undefined ? (moves ? null : row.status_reason) : evidence.reason;
  const news = allowed && (moves || reason !== row.status_reason);
  if (!news && !evidence.seen && !evidence.desired) return allowed;

  await trx
    .updateTable('container')
    .set({
      ...evidence.seen,
      ...(evidence.desired ? { desired: evidence.desired, gen: sql<number>`gen + 1` } : {}),
      ...(allowed ? { status: to, status_reason: reason, status_seen_at: sql<Date>`now()` } : {}),
      ...(allowed && moves ? entering(to) : {}),
    })
    .where('id', '=', id)
    .execute();
  if (evidence.desired) await announce(trx, 'node', { instanceId: row.instance_id });
  if (news) await announce(trx, 'changed', { entity: 'docker-container', id, workspaceId: row.workspace_id });
  if (moves && allowed && FREES_ROOM.includes(to)) await announceServer(trx, row.instance_id);
  return allowed;
}

const FREES_ROOM: readonly ContainerStatus[] = ['creation failed', 'deleted'];

/** A server shows how many containers and free CPUs it has. */
export async function announceServer(trx: Db, instanceId: number): Promise<void> {
  const { kind, workspace_id } = await trx
    .selectFrom('instance')
    .select(['kind', 'workspace_id'])
    .where('id', '=', instanceId)
    .executeTakeFirstOrThrow();
  const entity = kind === 'rented' ? 'instance-rented' : 'self-hosted-instance';
  await announce(trx, 'changed', { entity, id: instanceId, workspaceId: workspace_id });
}

function entering(to: ContainerStatus) {
  const minutes = DEADLINE_MINUTES[to];
  return {
    status_since: sql<Date>`now()`,
    status_deadline: minutes ? sql<Date>`now() + ${`${minutes} minutes`}::interval` : null,
    ...(to === 'creating' || to === 'starting' ? {} : { progress: null }),
    ...(to === 'deleted' ? { deleted_at: sql<Date>`now()` } : {}),
  };
}

/** What is known of a container when an inventory comes in. */
export type Standing = Pick<ContainerRow, 'status' | 'desired' | 'gen' | 'exit_code' | 'started_at' | 'docker_id'>;
interface Shown {
  to: ContainerStatus;
  reason: string | null;
}

/**
 * Desired × actual × where it stands → status. Pure. `actual` is what an inventory shows of the container, null when
 * it lists none. An answer equal to the present status means: nothing to tell.
 */
export function statusShown(row: Standing, actual: ActualContainer | null): Shown {
  const stays: Shown = { to: row.status, reason: null };
  if (row.status === 'creation failed' || row.status === 'deleted') return stays;
  switch (row.desired) {
    case 'absent':
      return { to: actual ? 'terminating' : 'deleted', reason: null };
    case 'stopped':
      return actual ? shownWhileStopped(row, actual) : missingWhileStopped(row);
    case 'running':
      return actual ? shownWhileRunning(row, actual) : missingWhileRunning(row);
    default:
      return row.desired satisfies never;
  }
}

function missingWhileRunning(row: Standing): Shown {
  const gone: Shown = { to: 'failed', reason: 'The container is no longer on the server' };
  switch (row.status) {
    case 'running':
    case 'rebooting':
      return gone;
    case 'unresponsive':
      return row.docker_id ? gone : { to: 'creating', reason: null };
    default:
      return { to: row.status, reason: null };
  }
}

function missingWhileStopped(row: Standing): Shown {
  return row.status === 'stopping' || row.status === 'unresponsive' || row.status === 'running'
    ? { to: 'stopped', reason: null }
    : { to: row.status, reason: null };
}

function shownWhileRunning(row: Standing, actual: ActualContainer): Shown {
  const stays: Shown = { to: row.status, reason: null };
  const restartPending =
    row.status === 'rebooting' && row.started_at !== null && row.started_at.getTime() === timeOf(actual.startedAt);
  if (restartPending) return stays;
  switch (actual.state) {
    case 'running':
      return { to: 'running', reason: null };
    case 'paused':
      return { to: 'running', reason: 'It is paused on the server' };
    case 'restarting':
      return { to: 'running', reason: `It ended with exit code ${actual.exitCode ?? 'unknown'} and is started again` };
    case 'created':
      return row.status === 'creating' || row.status === 'unresponsive' ? { to: 'starting', reason: null } : stays;
    case 'removing':
      return stays;
    case 'exited':
    case 'dead': {
      // What it shows is how it ended before the start that was asked for.
      const isOldNews = actual.gen < row.gen && ['starting', 'creating', 'failed'].includes(row.status);
      return isOldNews ? stays : ended(actual);
    }
    default:
      return actual.state satisfies never;
  }
}

function shownWhileStopped(row: Standing, actual: ActualContainer): Shown {
  const stays: Shown = { to: row.status, reason: null };
  if (isLive(actual)) {
    if (row.status === 'stopping') return stays;
    return { to: row.status === 'unresponsive' ? 'stopping' : 'running', reason: null };
  }
  if (row.status === 'exited' || row.status === 'failed') return stays;
  // It had ended by itself before it was asked to stay so.
  if (row.status === 'unresponsive' && row.exit_code !== null) return ended(actual);
  return { to: 'stopped', reason: null };
}

function ended(actual: ActualContainer): Shown {
  if (actual.oomKilled) return { to: 'failed', reason: 'It ran out of memory' };
  if (actual.exitCode === 0) return { to: 'exited', reason: null };
  const code = actual.exitCode === null ? 'It ended' : `It ended with exit code ${actual.exitCode}`;
  return { to: 'failed', reason: actual.error ? `${code}: ${actual.error}` : code };
}

function isLive(actual: ActualContainer): boolean {
  return actual.state === 'running' || actual.state === 'paused' || actual.state === 'restarting';
}

function timeOf(moment: string | null): number | null {
  return moment === null ? null : new Date(moment).getTime();
}
