import type { ContainerStatus } from '@stagi/contract/containers.ts';
import type { DaemonMessage } from '@stagi/contract/daemon.ts';
import { sql } from 'kysely';
import { announce } from '../bus/bus.ts';
import type { ContainerRow, Db } from '../db/schema.ts';
import { DEADLINE_MINUTES, transitionContainer } from './status.ts';

type Message<T extends DaemonMessage['type']> = Extract<DaemonMessage, { type: T }>;

const REASON_MAX = 500;
const PHASE_MAX = 40;

/**
 * Progress of a slow step. The deadline of a container that is being created is extended only by a step that is further
 * than ever before: a new attempt alone does not.
 */
export async function recordProgress(trx: Db, instanceId: number, progress: Message<'progress'>): Promise<void> {
  const row = await lockIfCurrent(trx, instanceId, progress);
  if (row?.edit_asked_at) return recordEditProgress(trx, row, progress);
  if (!row || !(progress.phase === 'saving' ? AFTER_END : BEFORE_RUNNING).includes(row.status)) return;
  if (progress.phase === 'starting' && row.status === 'creating') {
    await transitionContainer(trx, progress.containerId, 'starting');
    return;
  }
  const { phase, detail, fraction, layers } = progress;
  // How much there is to put in may be unknown: then a report counts as long as no attempt has failed.
  const isFurther =
    fraction === null ? phase === 'preparing' && !row.failed_step : fraction > (reachedOf(row, phase) ?? 0);
  await trx
    .updateTable('container')
    .set({
      progress: JSON.stringify({ phase, detail: detail?.slice(0, REASON_MAX) ?? null, fraction, layers }),
      ...(row.failed_step ? { failed_step: JSON.stringify({ ...row.failed_step, nextTryAt: null }) } : {}),
      status_seen_at: sql<Date>`now()`,
      ...(row.status === 'creating' && isFurther
        ? { status_deadline: sql<Date>`now() + ${`${DEADLINE_MINUTES.creating} minutes`}::interval` }
        : {}),
    })
    .where('id', '=', progress.containerId)
    .execute();
  await announceContainer(trx, progress.containerId, row.workspace_id);
}

/** Until its image is there the container of before is left alone. */
async function recordEditProgress(trx: Db, row: Current, progress: Message<'progress'>): Promise<void> {
  const { containerId, phase, fraction, layers } = progress;
  const detail = progress.detail?.slice(0, REASON_MAX) ?? null;
  const before = { progress: row.edit_progress, failed_step: row.edit_failed_step };
  const isFurther = fraction !== null && fraction > (reachedOf(before, phase) ?? 0);
  await trx
    .updateTable('container')
    .set({
      edit_progress: JSON.stringify({ phase, detail, fraction, layers }),
      ...(row.edit_failed_step
        ? { edit_failed_step: JSON.stringify({ ...row.edit_failed_step, nextTryAt: null }) }
        : {}),
      ...(isFurther ? { edit_deadline: sql<Date>`now() + ${`${DEADLINE_MINUTES.creating} minutes`}::interval` } : {}),
      status_seen_at: sql<Date>`now()`,
    })
    .where('id', '=', containerId)
    .execute();
  if (row.status === 'running' && row.desired === 'running' && phase !== 'pulling')
    await transitionContainer(trx, containerId, 'rebooting');
  await announceContainer(trx, containerId, row.workspace_id);
}

const BEFORE_RUNNING: readonly ContainerStatus[] = ['creating', 'starting'];
/** The output of a task is saved in these. */
const AFTER_END: readonly ContainerStatus[] = ['exited', 'failed', 'stopped'];

/** A failed step: its reason is shown, and the container has failed if the daemon will not retry. */
export async function recordFailure(trx: Db, instanceId: number, failure: Message<'failed'>): Promise<void> {
  const row = await lockIfCurrent(trx, instanceId, failure);
  if (!row) return;
  const reason = failure.message.slice(0, REASON_MAX);
  if (row.edit_asked_at) return recordFailedEdit(trx, row, failure, reason);
  await trx
    .updateTable('container')
    .set({ progress: null, failed_step: JSON.stringify(failedStepOf(failure, reason, row)) })
    .where('id', '=', failure.containerId)
    .execute();
  if (!failure.permanent || failure.waitsFor) {
    await transitionContainer(trx, failure.containerId, row.status, { reason });
    await announceContainer(trx, failure.containerId, row.workspace_id);
  } else if (row.status === 'creating') {
    await failCreation(trx, failure.containerId, reason);
  } else if (row.status === 'starting' || row.status === 'rebooting' || row.status === 'stopping') {
    await transitionContainer(trx, failure.containerId, 'failed', { reason });
  } else {
    await transitionContainer(trx, failure.containerId, row.status, { reason });
  }
}

/** While the container of before is there, its status does not change. */
async function recordFailedEdit(trx: Db, row: Current, failure: Message<'failed'>, reason: string): Promise<void> {
  const before = { progress: row.edit_progress, failed_step: row.edit_failed_step };
  await trx
    .updateTable('container')
    .set({ edit_progress: null, edit_failed_step: JSON.stringify(failedStepOf(failure, reason, before)) })
    .where('id', '=', failure.containerId)
    .execute();
  if (failure.permanent && (row.status === 'rebooting' || row.status === 'starting' || row.status === 'stopping'))
    await transitionContainer(trx, failure.containerId, 'failed', { reason });
  await announceContainer(trx, failure.containerId, row.workspace_id);
}

type Current = NonNullable<Awaited<ReturnType<typeof lockIfCurrent>>>;
type Progressing = Pick<ContainerRow, 'progress' | 'failed_step'>;

function failedStepOf(
  { phase, attempt, retryInMs, permanent, waitsFor }: Message<'failed'>,
  cause: string,
  row: Progressing,
) {
  return {
    phase: phase.slice(0, PHASE_MAX),
    cause,
    attempts: attempt ?? (row.failed_step?.attempts ?? 0) + 1,
    nextTryAt: retryInMs ? new Date(Date.now() + retryInMs).toISOString() : null,
    reached: reachedOf(row),
    reachedPhase: row.progress?.phase ?? row.failed_step?.reachedPhase,
    permanent,
    waitsFor,
  };
}

/** The greatest fraction of a slow step so far, in any attempt: by default of the last one. */
function reachedOf(
  { progress, failed_step }: Progressing,
  phase = progress?.phase ?? failed_step?.reachedPhase,
): number | null {
  const fractions = [
    progress?.phase === phase ? progress?.fraction : null,
    failed_step?.reachedPhase === phase ? failed_step?.reached : null,
  ].filter((fraction) => typeof fraction === 'number');
  return fractions.length > 0 ? Math.max(...fractions) : null;
}

/** The answer to a restart command, if it failed; success shows in the inventory. */
export async function recordFailedRestart(
  trx: Db,
  instanceId: number,
  containerId: number,
  error: string,
): Promise<void> {
  const row = await trx
    .selectFrom('container')
    .select('status')
    .where('id', '=', containerId)
    .where('instance_id', '=', instanceId)
    .executeTakeFirst();
  if (row?.status === 'rebooting') {
    await transitionContainer(trx, containerId, 'failed', { reason: error.slice(0, REASON_MAX) });
  }
}

/** A failed creation is not retried: the desired state becomes `absent`, so that the daemon removes what there is. */
export function failCreation(trx: Db, id: number, reason: string): Promise<boolean> {
  return transitionContainer(trx, id, 'creation failed', { reason, desired: 'absent' });
}

/** The container of a message, locked; undefined if it is on another server or the message is out of date. */
function lockIfCurrent(trx: Db, instanceId: number, about: { containerId: number; gen: number }) {
  return trx
    .selectFrom('container')
    .select(['status', 'desired', 'workspace_id', 'progress', 'failed_step'])
    .select(['edit_asked_at', 'edit_progress', 'edit_failed_step'])
    .where('id', '=', about.containerId)
    .where('instance_id', '=', instanceId)
    .where('gen', '=', about.gen)
    .where('deleted_at', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

function announceContainer(trx: Db, id: number, workspaceId: number): Promise<void> {
  return announce(trx, 'changed', { entity: 'docker-container', id, workspaceId });
}
