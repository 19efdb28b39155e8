import { isDeepStrictEqual } from 'node:util';
import type { ContainerStatus } from '@stagi/contract/containers.ts';
import type { ActualContainer, Inventory } from '@stagi/contract/daemon.ts';
import type { Selectable } from 'kysely';
import { announce } from '../bus/bus.ts';
import type { ContainerTable } from '../db/computeTables.ts';
import type { Db } from '../db/schema.ts';
import { recordBoundPorts } from './boundPorts.ts';
import { recordProtections } from './protections.ts';
import { STOPPED_WITH_SERVER } from './reasons.ts';
import { recordRestarts } from './restarts.ts';
import { recordRun } from './runs.ts';
import { hasWantedSpec, isBeingEdited, observedStatus, transitionContainer } from './status.ts';

type Row = Pick<
  Selectable<ContainerTable>,
  | 'id'
  | 'workspace_id'
  | 'status'
  | 'status_reason'
  | 'desired'
  | 'gen'
  | 'spec_no'
  | 'edit_asked_at'
  | 'health'
  | 'exit_code'
  | 'started_at'
  | 'finished_at'
  | 'docker_id'
  | 'restart_policy'
  | 'task_run_id'
  | 'task_report'
  | 'bound_ports'
  | 'protections'
  | 'restarts'
  | 'last_exit_code'
  | 'last_ended_at'
  | 'next_try_at'
  | 'looping_until'
>;

/** Updates the containers of a server from its daemon's inventory. Only rows of this server are changed. */
export async function applyInventory(trx: Db, instanceId: number, inventory: Inventory): Promise<void> {
  if (inventory.dockerError !== null) return;
  const rows: Row[] = await trx
    .selectFrom('container')
    .select(['id', 'workspace_id', 'status', 'status_reason', 'desired', 'gen', 'restart_policy'])
    .select(['exit_code', 'started_at', 'finished_at', 'docker_id', 'task_run_id', 'task_report', 'bound_ports'])
    .select(['spec_no', 'edit_asked_at', 'health', 'protections'])
    .select(['restarts', 'last_exit_code', 'last_ended_at', 'next_try_at', 'looping_until'])
    .where('instance_id', '=', instanceId)
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .forNoKeyUpdate()
    .execute();
  const shown = new Map(inventory.containers.map((container) => [container.id, container]));
  const bootedAt = inventory.bootedAt ?? null;
  for (const row of rows) await applyToContainer(trx, row, shown.get(row.id) ?? null, bootedAt);
}

async function applyToContainer(
  trx: Db,
  row: Row,
  actual: ActualContainer | null,
  bootedAt: string | null,
): Promise<void> {
  const { to, reason } = observedStatus(row, actual, bootedAt);
  const hasEnded = to === 'exited' || to === 'failed' || reason === STOPPED_WITH_SERVER;
  const seen = actual && changedColumns(row, actual, to);
  const hasRunChanged = actual !== null && (await recordRun(trx, row, actual));
  const haveRestartsChanged = actual !== null && (await recordRestarts(trx, row, actual));
  // A running container may have a reason too: it is paused, or restarting after a crash.
  const tellsMore = (to === 'running' || reason === STOPPED_WITH_SERVER) && reason !== row.status_reason;
  const hasReportChanged = actual !== null && (await recordTaskReport(trx, row, actual));
  const haveBindingsChanged = actual !== null && (await recordBoundPorts(trx, row, actual));
  const haveProtectionsChanged = actual !== null && (await recordProtections(trx, row, actual));
  const isEditOver = isBeingEdited(row) && isApplied(row, actual);
  if (isEditOver) await endEdit(trx, row.id);
  const hasHealthChanged = await recordHealth(trx, row, actual);
  const haveBoundsChanged = haveBindingsChanged || haveProtectionsChanged;
  if (hasRunChanged || haveRestartsChanged || hasReportChanged || isEditOver || hasHealthChanged || haveBoundsChanged)
    await announce(trx, 'changed', { entity: 'docker-container', id: row.id, workspaceId: row.workspace_id });
  if (to === row.status && !seen && !tellsMore) return;
  await transitionContainer(trx, row.id, to, {
    ...(to === row.status && !tellsMore ? {} : { reason }),
    ...(seen ? { observed: seen } : {}),
  });
  // One that ends while a change waits is recreated and started.
  const isForGood = actual && hasEnded && isToRun(row) && hasEndedForGood(row, actual);
  if (isForGood && (!isBeingEdited(row) || isEditOver)) await setDesiredStopped(trx, row.id);
}

/**
 * Whether the server has carried a change out. One that is to run must have been started: if that fails, the change can
 * still be undone. One that shall not run and is gone is created by its next start.
 */
function isApplied(row: Row, actual: ActualContainer | null): boolean {
  if (!actual) return row.desired === 'stopped';
  return hasWantedSpec(row, actual) && (row.desired !== 'running' || actual.state !== 'created');
}

async function endEdit(trx: Db, id: number): Promise<void> {
  await trx
    .updateTable('container')
    .set({ applied_spec: null, edit_asked_at: null, edit_deadline: null, edit_progress: null, edit_failed_step: null })
    .where('id', '=', id)
    .execute();
}

async function recordHealth(trx: Db, row: Row, actual: ActualContainer | null): Promise<boolean> {
  const health = actual?.health ?? null;
  if (health === row.health) return false;
  await trx.updateTable('container').set({ health }).where('id', '=', row.id).execute();
  return true;
}

/** Keeps what the daemon says of the run of a task. Returns whether it is new. */
async function recordTaskReport(trx: Db, row: Row, { task }: ActualContainer): Promise<boolean> {
  if (!task || row.task_run_id === null || isDeepStrictEqual(task, row.task_report)) return false;
  await trx
    .updateTable('container')
    .set({ task_report: JSON.stringify(task) })
    .where('id', '=', row.id)
    .execute();
  return true;
}

function changedColumns(row: Row, actual: ActualContainer, to: ContainerStatus) {
  const seen = {
    docker_id: actual.dockerId,
    started_at: dateOf(actual.startedAt),
    finished_at: dateOf(actual.finishedAt),
    exit_code: exitCode(row, actual, to),
  };
  const same =
    seen.docker_id === row.docker_id &&
    seen.exit_code === row.exit_code &&
    seen.started_at?.getTime() === row.started_at?.getTime() &&
    seen.finished_at?.getTime() === row.finished_at?.getTime();
  return same ? null : seen;
}

/** Kept only if the container ended by itself; this distinguishes it from one that was stopped. */
function exitCode(row: Row, actual: ActualContainer, to: ContainerStatus): number | null {
  // A changed one was recreated and not started.
  if (actual.state === 'created') return row.exit_code;
  if (to === 'exited' || to === 'failed') return actual.exitCode;
  return to === 'running' ? null : row.exit_code;
}

const isToRun = ({ desired }: Row): boolean => desired === 'running' || desired === 'paused';

function hasEndedForGood(row: Row, actual: ActualContainer): boolean {
  return row.restart_policy === 'no' || (row.restart_policy === 'on-failure' && actual.exitCode === 0);
}

/**
 * A container that ended by itself and has no restart to come must not run again when somebody removes it on the server.
 * The generation stays, as nothing changes for the daemon.
 */
async function setDesiredStopped(trx: Db, id: number): Promise<void> {
  await trx.updateTable('container').set({ desired: 'stopped' }).where('id', '=', id).execute();
}

function dateOf(moment: string | null): Date | null {
  if (moment === null) return null;
  const date = new Date(moment);
  return Number.isNaN(date.getTime()) ? null : date;
}
