import { CONTAINER_MOVES, type ContainerStatus } from '@stagi/contract/containers.ts';
import type { ActualContainer } from '@stagi/contract/daemon.ts';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import { announce } from '../bus/bus.ts';
import type { ContainerRow, Db } from '../db/schema.ts';
import { CONTAINER_GONE, SERVER_REBOOTING, SERVER_STOPPED, STOPPED_WITH_SERVER } from './reasons.ts';

/**
 * Minutes after which a transitional status has failed; its programs may take their time to end besides. While it is
 * creating, only a download that gains extends it.
 */
export const DEADLINE_MINUTES: Partial<Record<ContainerStatus, number>> = {
  creating: 25,
  starting: 5,
  rebooting: 3,
  stopping: 3,
};

export interface TransitionDetails {
  reason?: string | null;
  /** Further columns from the same observation. */
  observed?: Partial<Pick<ContainerRow, 'docker_id' | 'exit_code' | 'started_at' | 'finished_at'>>;
  /** A new desired state; it increases `gen`. */
  desired?: ContainerRow['desired'];
}

/**
 * The only place that changes a container's status. A transition that the table does not allow leaves the status as it
 * is; observed columns are stored either way. Returns whether the container now has the status `to`.
 */
export async function transitionContainer(
  trx: Db,
  id: number,
  to: ContainerStatus,
  evidence: TransitionDetails = {},
): Promise<boolean> {
  const row = await trx
    .selectFrom('container')
    .select(['status', 'status_reason', 'workspace_id', 'instance_id', 'deleted_at', 'stop_grace_seconds'])
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (!row || row.deleted_at) return false;
  const isChange = row.status !== to;
  const isAllowed = !isChange || CONTAINER_MOVES[row.status].includes(to);
  const reason = evidence.reason === undefined ? (isChange ? null : row.status_reason) : evidence.reason;
  const isNews = isAllowed && (isChange || reason !== row.status_reason);
  if (!isNews && !evidence.observed && !evidence.desired) return isAllowed;

  await trx
    .updateTable('container')
    .set({
      ...evidence.observed,
      ...(evidence.desired ? { desired: evidence.desired, gen: sql<number>`gen + 1` } : {}),
      ...(isAllowed ? { status: to, status_reason: reason, status_seen_at: sql<Date>`now()` } : {}),
      ...(isAllowed && isChange ? columnsOnEntering(to, row.stop_grace_seconds) : {}),
    })
    .where('id', '=', id)
    .execute();
  if (evidence.desired) await announce(trx, 'node', { instanceId: row.instance_id });
  if (isNews) await announce(trx, 'changed', { entity: 'docker-container', id, workspaceId: row.workspace_id });
  if (isChange && isAllowed && FREES_CAPACITY.includes(to)) await announceServer(trx, row.instance_id);
  return isAllowed;
}

const FREES_CAPACITY: readonly ContainerStatus[] = ['creation failed', 'deleted'];

/** Screens show a server's number of containers and free CPUs. */
export async function announceServer(trx: Db, instanceId: number): Promise<void> {
  const { kind, workspace_id } = await trx
    .selectFrom('instance')
    .select(['kind', 'workspace_id'])
    .where('id', '=', instanceId)
    .executeTakeFirstOrThrow();
  const entity = kind === 'rented' ? 'instance-rented' : 'self-hosted-instance';
  await announce(trx, 'changed', { entity, id: instanceId, workspaceId: workspace_id });
}

function columnsOnEntering(to: ContainerStatus, graceSeconds: number) {
  const minutes = DEADLINE_MINUTES[to];
  const grace = to === 'stopping' || to === 'rebooting' ? graceSeconds : 0;
  return {
    status_since: sql<Date>`now()`,
    status_deadline: minutes ? sql<Date>`now() + ${`${minutes * 60 + grace} seconds`}::interval` : null,
    ...(to === 'creating' || to === 'starting' ? {} : { progress: null }),
    ...(to === 'creation failed' || to === 'failed' ? {} : { failed_step: null }),
    ...(to === 'deleted' ? { deleted_at: sql<Date>`now()` } : {}),
  };
}

/** Exit codes of a program that was ended with its machine: by SIGKILL, by SIGTERM, and found dead by Docker. */
const EXIT_CODES_OF_SHUTDOWN = [137, 143, 255];

/** What is stored of a container when an inventory comes in. */
export type KnownContainer = Pick<
  ContainerRow,
  | 'status'
  | 'status_reason'
  | 'desired'
  | 'gen'
  | 'spec_no'
  | 'edit_asked_at'
  | 'exit_code'
  | 'started_at'
  | 'docker_id'
>;
interface ObservedStatus {
  to: ContainerStatus;
  reason: string | null;
}

/** Whether a change of its specification waits for its server. */
export function isBeingEdited({ edit_asked_at }: Pick<ContainerRow, 'edit_asked_at'>): boolean {
  return edit_asked_at !== null;
}

export function hasWantedSpec({ spec_no }: Pick<ContainerRow, 'spec_no'>, { specNo = 1 }: ActualContainer): boolean {
  return specNo === spec_no;
}

/**
 * The status from stored, desired and actual state. Pure. `actual` is the container's entry in the inventory, null when
 * it has none.
 */
export function observedStatus(
  row: KnownContainer,
  actual: ActualContainer | null,
  bootedAt: string | null = null,
): ObservedStatus {
  const stays: ObservedStatus = { to: row.status, reason: null };
  if (row.status === 'creation failed' || row.status === 'deleted') return stays;
  switch (row.desired) {
    case 'absent':
      return { to: actual ? 'terminating' : 'deleted', reason: null };
    case 'stopped':
      return actual ? seenWhileStopped(row, actual) : missingWhileStopped(row);
    case 'running':
    case 'paused':
      return actual ? seenWhileRunning(row, actual, bootedAt) : missingWhileRunning(row);
    default:
      return row.desired satisfies never;
  }
}

function missingWhileRunning(row: KnownContainer): ObservedStatus {
  const gone: ObservedStatus = { to: 'failed', reason: CONTAINER_GONE };
  switch (row.status) {
    case 'running':
    case 'rebooting':
      // Between the removal of the container of before and the creation of the changed one.
      return isBeingEdited(row) ? { to: 'rebooting', reason: null } : gone;
    case 'unresponsive':
      if (isBeingEdited(row)) return { to: 'starting', reason: null };
      return row.docker_id ? gone : { to: 'creating', reason: null };
    default:
      return { to: row.status, reason: null };
  }
}

function missingWhileStopped(row: KnownContainer): ObservedStatus {
  return row.status === 'stopping' || row.status === 'unresponsive' || row.status === 'running'
    ? { to: 'stopped', reason: null }
    : { to: row.status, reason: null };
}

function seenWhileRunning(row: KnownContainer, actual: ActualContainer, bootedAt: string | null): ObservedStatus {
  const stays: ObservedStatus = { to: row.status, reason: null };
  // Its daemon stops it, to recreate it.
  if (row.status === 'rebooting' && isBeingEdited(row) && !hasWantedSpec(row, actual)) return stays;
  const restartPending =
    row.status === 'rebooting' &&
    !isBeingEdited(row) &&
    row.started_at !== null &&
    row.started_at.getTime() === toTime(actual.startedAt);
  if (restartPending) return stays;
  switch (actual.state) {
    case 'running':
      return { to: 'running', reason: null };
    case 'paused':
      return { to: 'running', reason: text('It is paused on the server') };
    case 'restarting':
      return {
        to: 'running',
        reason: text('It ended with exit code {{code}} and is restarting', { code: actual.exitCode ?? 'unknown' }),
      };
    case 'created':
      // Files of a task may take much longer than a start.
      if (actual.task?.phase === 'preparing')
        return row.status === 'unresponsive' ? { to: 'creating', reason: null } : stays;
      return row.status === 'creating' || row.status === 'unresponsive' ? { to: 'starting', reason: null } : stays;
    case 'removing':
      return stays;
    case 'exited':
    case 'dead': {
      // It shows how the container ended before the requested start. The run of a task is started only once.
      const isOutdated = !actual.task && actual.gen < row.gen;
      if (isOutdated && ['starting', 'creating', 'failed'].includes(row.status)) return stays;
      if (isOutdated && row.status === 'unresponsive' && !isBeingEdited(row)) return { to: 'starting', reason: null };
      const endedWithServer = wasStoppedWithServer(row, actual) || wasKilledByReboot(row, actual, bootedAt);
      return endedWithServer ? { to: 'stopped', reason: STOPPED_WITH_SERVER } : ended(actual);
    }
    default:
      return actual.state satisfies never;
  }
}

/**
 * It ran until its server was stopped or rebooted, and was not started since. Its exit code is that of the machine's end.
 * The run of a task tells by itself (`interrupted`).
 */
function wasStoppedWithServer(row: KnownContainer, actual: ActualContainer): boolean {
  if (actual.task || row.exit_code !== null || row.started_at?.getTime() !== toTime(actual.startedAt)) return false;
  if (row.status === 'unresponsive') return row.status_reason === SERVER_REBOOTING;
  return (
    row.status === 'stopped' && (row.status_reason === SERVER_STOPPED || row.status_reason === STOPPED_WITH_SERVER)
  );
}

/** The same where its owner rebooted the machine: the platform did not order that, and may not have noticed it. */
function wasKilledByReboot(row: KnownContainer, actual: ActualContainer, bootedAt: string | null): boolean {
  if (actual.task || actual.oomKilled || row.exit_code !== null || bootedAt === null) return false;
  if (row.status !== 'running' && row.status !== 'unresponsive') return false;
  const startedAt = toTime(actual.startedAt);
  return startedAt !== null && startedAt < toTime(bootedAt)! && EXIT_CODES_OF_SHUTDOWN.includes(actual.exitCode ?? NaN);
}

function seenWhileStopped(row: KnownContainer, actual: ActualContainer): ObservedStatus {
  const stays: ObservedStatus = { to: row.status, reason: null };
  if (isAlive(actual)) {
    if (row.status === 'stopping') return stays;
    return { to: row.status === 'unresponsive' ? 'stopping' : 'running', reason: null };
  }
  if (row.status === 'exited' || row.status === 'failed') return stays;
  // It had ended by itself before it was stopped. A change may have recreated it since.
  if (row.status === 'unresponsive' && row.exit_code !== null)
    return ended({ ...actual, exitCode: actual.state === 'created' ? row.exit_code : actual.exitCode });
  return { to: 'stopped', reason: null };
}

function ended(actual: ActualContainer): ObservedStatus {
  if (actual.oomKilled) return { to: 'failed', reason: text('It ran out of memory') };
  if (actual.exitCode === 0) return { to: 'exited', reason: null };
  const code =
    actual.exitCode === null ? text('It ended') : text('It ended with exit code {{code}}', { code: actual.exitCode });
  return { to: 'failed', reason: actual.error ? `${code}: ${actual.error}` : code };
}

function isAlive(actual: ActualContainer): boolean {
  return actual.state === 'running' || actual.state === 'paused' || actual.state === 'restarting';
}

function toTime(moment: string | null): number | null {
  return moment === null ? null : new Date(moment).getTime();
}
