import type { DaemonMessage } from '@stagi/contract/daemon.ts';
import { sql } from 'kysely';
import { announce } from '../bus/bus.ts';
import type { Db } from '../db/schema.ts';
import { DEADLINE_MINUTES, moveContainer } from './status.ts';

type Message<T extends DaemonMessage['type']> = Extract<DaemonMessage, { type: T }>;

const REASON_MAX = 500;

/** How far a slow step is. A container that is being created gets its whole deadline again: it gets on. */
export async function recordProgress(trx: Db, instanceId: number, progress: Message<'progress'>): Promise<void> {
  const row = await current(trx, instanceId, progress);
  if (!row || (row.status !== 'creating' && row.status !== 'starting')) return;
  if (progress.phase === 'starting' && row.status === 'creating') {
    await moveContainer(trx, progress.containerId, 'starting');
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

/** A step that did not work: the reason is shown, and what will not be tried again has failed. */
export async function recordFailure(trx: Db, instanceId: number, failure: Message<'failed'>): Promise<void> {
  const row = await current(trx, instanceId, failure);
  if (!row) return;
  const reason = failure.message.slice(0, REASON_MAX);
  if (!failure.permanent) {
    await moveContainer(trx, failure.containerId, row.status, { reason });
  } else if (row.status === 'creating') {
    await failCreation(trx, failure.containerId, reason);
  } else if (row.status === 'starting' || row.status === 'rebooting' || row.status === 'stopping') {
    await moveContainer(trx, failure.containerId, 'failed', { reason });
  } else {
    await moveContainer(trx, failure.containerId, row.status, { reason });
  }
}

/** A restart command that was answered: only its failure is news, success shows in the inventory. */
export async function recordRestart(trx: Db, instanceId: number, containerId: number, error: string): Promise<void> {
  const row = await trx
    .selectFrom('container')
    .select('status')
    .where('id', '=', containerId)
    .where('instance_id', '=', instanceId)
    .executeTakeFirst();
  if (row?.status === 'rebooting') {
    await moveContainer(trx, containerId, 'failed', { reason: error.slice(0, REASON_MAX) });
  }
}

/** What could not be made is not tried again: the daemon is told to have nothing of it. */
export function failCreation(trx: Db, id: number, reason: string): Promise<boolean> {
  return moveContainer(trx, id, 'creation failed', { reason, desired: 'absent' });
}

/** The container a message is about, when it is one of this server and the message is not out of date. */
function current(trx: Db, instanceId: number, about: { containerId: number; gen: number }) {
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
