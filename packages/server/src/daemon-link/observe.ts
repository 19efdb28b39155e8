import { isDeepStrictEqual } from 'node:util';
import type { DaemonMessage, Inventory } from '@stagi/contract/daemon.ts';
import type { MachineFacts } from '@stagi/contract/instances.ts';
import { isPlainLine, plainLine, plainText } from '@stagi/contract/plainText.ts';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import { recordFailedRestart, recordFailure, recordProgress } from '../containers/daemonReports.ts';
import { applyInventory } from '../containers/inventory.ts';
import { catchUpWithDaemon } from '../containers/remembered.ts';
import { acceptsInventory } from '../containers/serverStatus.ts';
import type { Context } from '../context.ts';
import { commitAsync } from '../db/durability.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { recordInstalledKeys } from '../instances/sshAccess.ts';
import { recordCommandAnswer } from '../nodes/commands.ts';
import { revokeNode } from '../nodes/enrolment.ts';
import type { NodeConnection } from './nodeConnection.ts';

type Message<T extends DaemonMessage['type']> = Extract<DaemonMessage, { type: T }>;
type Services = Pick<Context, 'db' | 'log'>;

/** Records what a daemon reports, in one transaction. False when the connection was fenced. */
export function observeHello(ctx: Services, node: NodeConnection, hello: Message<'hello'>): Promise<boolean> {
  return unlessFenced(ctx, node, async (trx) => {
    await trx
      .updateTable('daemon_node')
      .set({
        version: hello.version,
        boot_id: hello.bootId,
        facts: JSON.stringify(readable(hello.facts)),
        features: hello.features ?? [],
      })
      .where('instance_id', '=', node.instanceId)
      .execute();
    await catchUpWithDaemon(trx, node.instanceId, hello);
    await observe(trx, node, hello.inventory, true);
  });
}

const LONGEST_FACT = 200;

/** A machine names itself and its parts as it likes. The roots of volumes are paths, and stay as they are. */
function readable(facts: MachineFacts): MachineFacts {
  const line = (fact: string): string => plainLine(fact, LONGEST_FACT);
  return {
    ...facts,
    hostname: line(facts.hostname),
    os: line(facts.os),
    kernel: line(facts.kernel),
    arch: line(facts.arch),
    cpuName: line(facts.cpuName),
    dockerVersion: line(facts.dockerVersion),
    gpus: facts.gpus.map((gpu) => ({ ...gpu, name: line(gpu.name) })),
    warnings: facts.warnings.map(plainText),
  };
}

export function observeInventory(ctx: Services, node: NodeConnection, inventory: Inventory): Promise<boolean> {
  return unlessFenced(ctx, node, (trx) => observe(trx, node, inventory, false), REPEATED_SOON);
}

export function observeProgress(ctx: Services, node: NodeConnection, progress: Message<'progress'>): Promise<boolean> {
  return unlessFenced(ctx, node, (trx) => recordProgress(trx, node.instanceId, progress));
}

export function observeFailure(ctx: Services, node: NodeConnection, failure: Message<'failed'>): Promise<boolean> {
  return unlessFenced(ctx, node, (trx) => recordFailure(trx, node.instanceId, failure));
}

export function observeResult(ctx: Services, node: NodeConnection, result: Message<'result'>): Promise<boolean> {
  return unlessFenced(ctx, node, async (trx) => {
    const answered = await recordCommandAnswer(trx, node.instanceId, result);
    if (!answered) return;
    switch (answered.kind) {
      case 'restart':
        if (!result.ok) {
          const reason = result.message ?? text('It could not be restarted');
          await recordFailedRestart(trx, node.instanceId, answered.containerId, reason);
        }
        return;
      case 'image-remove':
      case 'image-prune':
        return;
      case 'leave':
        return revokeNode(ctx, trx, node.instanceId, text('The server has left'));
      default:
        return answered satisfies never;
    }
  });
}

async function observe(
  trx: Db,
  { instanceId }: NodeConnection,
  reported: Inventory,
  isFreshLink: boolean,
): Promise<void> {
  // Docker has no image of another name; a page could not show one.
  const inventory = { ...reported, images: reported.images.filter(({ reference }) => isPlainLine(reference)) };
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
  if (acceptsInventory(status, isFreshLink)) await applyInventory(trx, instanceId, inventory);
  if (inventory.sshKeys) await recordInstalledKeys(trx, instanceId, inventory.sshKeys);
}

/** An inventory is repeated within half a minute, so its commit need not wait for the disk. */
const REPEATED_SOON = 'asynchronously';

/** Fencing: runs `work` with the node's row locked, unless a newer connection has taken over or the node was revoked. */
function unlessFenced(
  ctx: Services,
  { instanceId, epoch }: NodeConnection,
  work: (trx: Db) => Promise<void>,
  commit: typeof REPEATED_SOON | 'durably' = 'durably',
): Promise<boolean> {
  return inTransaction(ctx.db, async (trx) => {
    const node = await trx
      .selectFrom('daemon_node')
      .select('instance_id')
      .$if(commit === REPEATED_SOON, (node) => node.select(commitAsync.as('commit')))
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
