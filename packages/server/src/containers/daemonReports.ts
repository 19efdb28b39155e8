import type { DaemonMessage } from '@stagi/contract/daemon.ts';
import { sql } from 'kysely';
import { announce } from '../bus/bus.ts';
import type { Db } from '../db/schema.ts';
import { DEADLINE_MINUTES, transitionContainer } from './status.ts';

type Message<T extends DaemonMessage['type']> = Extract<DaemonMessage, { type: T }>;

const REASON_MAX = 500;

/** Progress of a slow step. It extends the deadline of a container that is being created. */
export async function recordProgress(trx: Db, instanceId: number, progress: Message<'progress'>): Promise<void> {
  const row = await lockIfCurrent(trx, instanceId, progress);
  if (!row || (row.status !== 'creating' && row.status !== 'starting')) return;
  if (progress.phase === 'starting' && row.status === 'creating') {
    await transitionContainer(trx, progress.containerId, 'starting');
    return;
  }
  const { phase, detail, fraction } = progress;
  await trx
    .updateTable('container')
    .set({
      progress: JSON.stringify({ phase, detail: detail?.slice(0, REASON_MAX) ?? null, fraction }),
      status_seen_at: sql<Date>`now()`,
      ...(row.status === 'creating'
        ? { status_deadline: sql<Date>`now() + ${`${DEADLINE_MINUTES.creating} minutes`}::interval` }
        : {}),
    })
    .where('id', '=', progress.containerId)
    .execute();
  await announce(trx, 'changed', {
    entity: 'docker-container',
    id: progress.containerId,
    workspaceId: row.workspace_id,
  });
}

/** A failed step: its reason is shown, and the container has failed if the daemon will not retry. */
export async function recordFailure(trx: Db, instanceId: number, failure: Message<'failed'>): Promise<void> {
  const row = await lockIfCurrent(trx, instanceId, failure);
  if (!row) return;
  const reason = failure.message.slice(0, REASON_MAX);
  if (!failure.permanent) {
    await transitionContainer(trx, failure.containerId, row.status, { reason });
  } else if (row.status === 'creating') {
    await failCreation(trx, failure.containerId, reason);
  } else if (row.status === 'starting' || row.status === 'rebooting' || row.status === 'stopping') {
    await transitionContainer(trx, failure.containerId, 'failed', { reason });
  } else {
    await transitionContainer(trx, failure.containerId, row.status, { reason });
  }
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
    .select(['status', 'workspace_id'])
    .where('id', '=', about.containerId)
    .where('instance_id', '=', instanceId)
    .where('gen', '=', about.gen)
    .where('deleted_at', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst();
}
