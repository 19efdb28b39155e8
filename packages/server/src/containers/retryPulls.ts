import { parseImage } from '@stagi/contract/imageReference.ts';
import { sql } from 'kysely';
import { announce } from '../bus/bus.ts';
import type { Db } from '../db/schema.ts';
import { DEADLINE_MINUTES } from './status.ts';

/**
 * The credential for a registry has changed: containers and changes of containers whose pull it refused are tried again.
 * Their daemons try under a new generation only.
 */
export async function retryPulls(trx: Db, workspaceId: number, host: string): Promise<void> {
  const waiting = await trx
    .selectFrom('container')
    .select(['id', 'image', 'instance_id', 'edit_asked_at'])
    .where('workspace_id', '=', workspaceId)
    .where('deleted_at', 'is', null)
    .where((container) =>
      container.or([
        container.and([container('status', '=', 'creating'), sql<boolean>`failed_step ->> 'waitsFor' = 'credential'`]),
        sql<boolean>`edit_failed_step ->> 'waitsFor' = 'credential'`,
      ]),
    )
    .orderBy('id')
    .forNoKeyUpdate()
    .execute();
  for (const { id, image, instance_id, edit_asked_at } of waiting) {
    if (parseImage(image)?.host !== host) continue;
    await trx
      .updateTable('container')
      .set({
        gen: sql<number>`gen + 1`,
        ...(edit_asked_at
          ? { edit_failed_step: null, edit_progress: null, edit_deadline: newDeadline() }
          : { failed_step: null, progress: null, status_reason: null, status_deadline: newDeadline() }),
      })
      .where('id', '=', id)
      .execute();
    await announce(trx, 'node', { instanceId: instance_id });
    await announce(trx, 'changed', { entity: 'docker-container', id, workspaceId });
  }
}

const newDeadline = () => sql<Date>`now() + ${`${DEADLINE_MINUTES.creating} minutes`}::interval`;
