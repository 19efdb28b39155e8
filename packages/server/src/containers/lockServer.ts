import { EDIT_FEATURE } from '@stagi/contract/daemon.ts';
import { text } from '@stagi/contract/text.ts';
import type { Db } from '../db/schema.ts';
import { type ServerSize, sizeOf } from './capacity.ts';

export const AGENT_TOO_OLD = text('The agent of this server is too old for this: install it again');

/** A server that is online. */
export interface ReadyServer {
  size: ServerSize;
  /** Whether its daemon recreates changed containers, and knows shared memory, health checks and secret variables. */
  canEdit: boolean;
}

/**
 * Locks the server, so that two creations or changes do not get the same CPU or port. Null when it is not online, or its
 * daemon has never said what it has.
 */
export async function lockServer(trx: Db, instanceId: number): Promise<ReadyServer | null> {
  const instance = await trx
    .selectFrom('instance')
    .select(['kind', 'status', 'offer'])
    .where('id', '=', instanceId)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow();
  const node = await trx
    .selectFrom('daemon_node')
    .select(['facts', 'features'])
    .where('instance_id', '=', instanceId)
    .executeTakeFirst();
  const size = node?.facts && sizeOf(instance, node.facts);
  if (instance.status !== 'online' || !size) return null;
  return { size, canEdit: node.features.includes(EDIT_FEATURE) };
}
