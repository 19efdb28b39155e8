import { isDeepStrictEqual } from 'node:util';
import type { DaemonMessage, Inventory } from '@stagi/contract/daemon.ts';
import { sql } from 'kysely';
import { inventoryCounts } from '../containers/followInstance.ts';
import { recordContainers } from '../containers/inventory.ts';
import { recordFailure, recordProgress, recordRestart } from '../containers/report.ts';
import type { Context } from '../context.ts';
import { committedSoon } from '../db/durability.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { confirmKeys } from '../instances/sshAccess.ts';
import { answerCommand } from './commands.ts';
import { revokeNode } from './enrolment.ts';
import type { Connected } from './node.ts';

type Message<T extends DaemonMessage['type']> = Extract<DaemonMessage, { type: T }>;
type Ground = Pick<Context, 'db' | 'log'>;

/** What a daemon says of its server, in one transaction. False when a newer connection has taken over. */
export function observeHello(ctx: Ground, node: Connected, hello: Message<'hello'>): Promise<boolean> {
  return whileNewest(ctx, node, async (trx) => {
    await trx
      .updateTable('daemon_node')
      .set({ version: hello.version, boot_id: hello.bootId, facts: JSON.stringify(hello.facts) })
      .where('instance_id', '=', node.instanceId)
      .execute();
    await observe(trx, node, hello.inventory, true);
  });
}

export function observeInventory(ctx: Ground, node: Connected, inventory: Inventory): Promise<boolean> {
  return whileNewest(ctx, node, (trx) => observe(trx, node, inventory, false), RETOLD);
}

export function observeProgress(ctx: Ground, node: Connected, progress: Message<'progress'>): Promise<boolean> {
  return whileNewest(ctx, node, (trx) => recordProgress(trx, node.instanceId, progress));
}

export function observeFailure(ctx: Ground, node: Connected, failure: Message<'failed'>): Promise<boolean> {
  return whileNewest(ctx, node, (trx) => recordFailure(trx, node.instanceId, failure));
}

export function observeResult(ctx: Ground, node: Connected, result: Message<'result'>): Promise<boolean> {
  return whileNewest(ctx, node, async (trx) => {
    const answered = await answerCommand(trx, node.instanceId, result);
    if (!answered) return;
    switch (answered.kind) {
      case 'restart':
        if (!result.ok) {
          const reason = result.message ?? 'It could not be restarted';
          await recordRestart(trx, node.instanceId, answered.containerId, reason);
        }
        return;
      case 'leave':
        return revokeNode(ctx, trx, node.instanceId, 'The server has left');
      default:
        return answered satisfies never;
    }
  });
}

async function observe(trx: Db, { instanceId }: Connected, inventory: Inventory, isFreshLink: boolean): Promise<void> {
  const { status } = await trx
    .selectFrom('instance')
    .select('status')
    .where('id', '=', instanceId)
    .executeTakeFirstOrThrow();
  const before = await trx
    .selectFrom('daemon_node')
    .select('inventory')
    .where('instance_id', '=', instanceId)
    .executeTakeFirstOrThrow();
  const known = before.inventory !== null && isDeepStrictEqual(before.inventory, inventory);
  await trx
    .updateTable('daemon_node')
    .set({ inventory_at: sql<Date>`now()`, ...(known ? {} : { inventory: JSON.stringify(inventory) }) })
    .where('instance_id', '=', instanceId)
    .execute();
  if (inventoryCounts(status, isFreshLink)) await recordContainers(trx, instanceId, inventory);
  if (inventory.sshKeys) await confirmKeys(trx, instanceId, inventory.sshKeys);
}

/** What is told again within half a minute need not outlive a crash of the database: nobody waits for its disk. */
const RETOLD = 'at leisure';

/** Runs `work` with the node's row locked, when the connection is still its newest. */
function whileNewest(
  ctx: Ground,
  { instanceId, epoch }: Connected,
  work: (trx: Db) => Promise<void>,
  commit: typeof RETOLD | 'durably' = 'durably',
): Promise<boolean> {
  return inTransaction(ctx.db, async (trx) => {
    const node = await trx
      .selectFrom('daemon_node')
      .select('instance_id')
      .$if(commit === RETOLD, (node) => node.select(committedSoon.as('commit')))
      .where('instance_id', '=', instanceId)
      .where('conn_epoch', '=', epoch)
      .where('revoked_at', 'is', null)
      .forNoKeyUpdate()
      .executeTakeFirst();
    if (!node) return false;
    await work(trx);
    return true;
  });
}
