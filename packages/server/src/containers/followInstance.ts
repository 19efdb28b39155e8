import type { ContainerStatus } from '@stagi/contract/containers.ts';
import { Inventory } from '@stagi/contract/daemon.ts';
import type { Db } from '../db/schema.ts';
import { recordContainers } from './inventory.ts';
import { moveContainer } from './status.ts';

/** What a server's status changes nothing about. */
const BEYOND_REACH: readonly ContainerStatus[] = ['creation failed', 'terminating'];

/**
 * What a server's new status means for its containers; called in the transaction that moves the server. Seen again,
 * they are what its daemon showed last.
 */
export async function instanceMoved(trx: Db, instanceId: number, status: string): Promise<void> {
  switch (status) {
    case 'powering off':
    case 'stopped':
      return moveAll(trx, instanceId, 'stopped', 'Its server is stopped', BEYOND_REACH);
    case 'rebooting':
      return moveAll(trx, instanceId, 'unresponsive', 'Its server is rebooting', BEYOND_REACH);
    case 'unresponsive':
    case 'offline':
    case 'error':
      return moveAll(trx, instanceId, 'unresponsive', 'Its server cannot be reached', BEYOND_REACH);
    case 'terminated':
    case 'deleted':
      return moveAll(trx, instanceId, 'deleted', 'Its server is gone', []);
    case 'online':
      return showLastInventory(trx, instanceId);
  }
}

/** Whether what a daemon shows counts while its server has this status: one that goes down shows nothing any more. */
export function inventoryCounts(instanceStatus: string, isFreshLink: boolean): boolean {
  switch (instanceStatus) {
    case 'powering off':
    case 'stopped':
    case 'terminating':
    case 'terminated':
    case 'deleted':
      return false;
    case 'rebooting':
      return isFreshLink;
    default:
      return true;
  }
}

async function showLastInventory(trx: Db, instanceId: number): Promise<void> {
  const node = await trx
    .selectFrom('daemon_node')
    .select('inventory')
    .where('instance_id', '=', instanceId)
    .executeTakeFirst();
  if (node?.inventory) await recordContainers(trx, instanceId, Inventory.parse(node.inventory));
}

async function moveAll(
  trx: Db,
  instanceId: number,
  to: ContainerStatus,
  reason: string,
  except: readonly ContainerStatus[],
): Promise<void> {
  const rows = await trx
    .selectFrom('container')
    .select(['id', 'status'])
    .where('instance_id', '=', instanceId)
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .execute();
  for (const row of rows) if (!except.includes(row.status)) await moveContainer(trx, row.id, to, { reason });
}
