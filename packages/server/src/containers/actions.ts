import { containerCan } from '@stagi/contract/containerRules.ts';
import type { Container } from '@stagi/contract/containers.ts';
import { crashPoint } from '@stagi/contract/crashPoints.ts';
import type { Ref } from '@stagi/contract/page.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { refused } from '../http/errors.ts';
import { sendCommand } from '../nodes/commands.ts';
import { lockManagedContainer, type Viewer, visibleContainer } from './access.ts';
import { transitionContainer } from './status.ts';

type Caller = Context & Viewer;

export function startContainer(ctx: Caller, ref: Ref): Promise<Container> {
  return performAction(ctx, ref, 'start', async (trx, { id }) => {
    await trx.updateTable('container').set({ exit_code: null }).where('id', '=', id).execute();
    await transitionContainer(trx, id, 'starting', { desired: 'running' });
  });
}

export function stopContainer(ctx: Caller, ref: Ref): Promise<Container> {
  return performAction(ctx, ref, 'stop', async (trx, { id }) => {
    await transitionContainer(trx, id, 'stopping', { desired: 'stopped' });
  });
}

/** The desired state does not change: a one-time command, idempotent however often it is delivered. */
export function restartContainer(ctx: Caller, ref: Ref): Promise<Container> {
  return performAction(ctx, ref, 'restart', async (trx, { id, instance }) => {
    await transitionContainer(trx, id, 'rebooting');
    await sendCommand(ctx, trx, instance.id, { kind: 'restart', containerId: id });
  });
}

/** `terminating` until the inventory no longer shows it; a container whose creation failed is deleted at once. */
export async function deleteContainer(ctx: Caller, ref: Ref): Promise<void> {
  await performAction(ctx, ref, 'delete', async (trx, { id, status }) => {
    await transitionContainer(trx, id, status === 'creation failed' ? 'deleted' : 'terminating', { desired: 'absent' });
  });
}

function performAction(
  ctx: Caller,
  ref: Ref,
  action: 'start' | 'stop' | 'restart' | 'delete',
  change: (trx: Db, container: Container) => Promise<void>,
): Promise<Container> {
  return inTransaction(ctx.db, async (trx) => {
    const viewer = { db: trx, workspace: ctx.workspace };
    const container = await lockManagedContainer(viewer, ref);
    const verdict = containerCan[action](container);
    if (!verdict.allowed) throw refused(verdict.reason);
    await change(trx, container);
    crashPoint(`docker-container/${action}.stored`);
    return visibleContainer(viewer, { id: container.id });
  });
}
