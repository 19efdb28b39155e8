import type { ContainerStatus } from '@stagi/contract/containers.ts';
import { Inventory } from '@stagi/contract/daemon.ts';
import { text } from '@stagi/contract/text.ts';
import type { Db } from '../db/schema.ts';
import { applyInventory } from './inventory.ts';
import { SERVER_REBOOTING, SERVER_STOPPED } from './reasons.ts';
import { transitionContainer } from './status.ts';

/** Statuses of containers that do not depend on the server's status. */
const UNAFFECTED: readonly ContainerStatus[] = ['creation failed', 'terminating'];

/**
 * Moves a server's containers along with its new status, in the transaction that changes it. When the server is online
 * again, its last inventory is applied.
 */
export async function applyServerStatus(trx: Db, instanceId: number, status: string): Promise<void> {
  switch (status) {
    case 'powering off':
    case 'stopped':
      return transitionAll(trx, instanceId, 'stopped', SERVER_STOPPED, UNAFFECTED);
    case 'rebooting':
      return transitionAll(trx, instanceId, 'unresponsive', SERVER_REBOOTING, UNAFFECTED);
    case 'unresponsive':
    case 'offline':
    case 'error':
      return transitionAll(trx, instanceId, 'unresponsive', text('Its server cannot be reached'), UNAFFECTED);
    case 'terminated':
    case 'deleted':
      return transitionAll(trx, instanceId, 'deleted', text('Its server is gone'), []);
    case 'online':
      return reapplyLastInventory(trx, instanceId);
  }
}

/** Whether an inventory counts while the server has this status: containers end while a server goes down. */
export function acceptsInventory(instanceStatus: string, isFreshLink: boolean): boolean {
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

/**
 * Only that of this link: an earlier one shows what ran until the server went down, and this link's is about to come.
 * Locks the node's row, as recording a new inventory does: else a new one may be overwritten by the one read here.
 */
async function reapplyLastInventory(trx: Db, instanceId: number): Promise<void> {
  const node = await trx
    .selectFrom('daemon_node')
    .select('inventory')
    .where('instance_id', '=', instanceId)
    .whereRef('inventory_at', '>=', 'connected_at')
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (node?.inventory) await applyInventory(trx, instanceId, Inventory.parse(node.inventory));
}

async function transitionAll(
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
  for (const row of rows) if (!except.includes(row.status)) await transitionContainer(trx, row.id, to, { reason });
}
