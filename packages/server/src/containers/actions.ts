import { type Container, containerCan } from '@stagi/contract/containers.ts';
import { crashPoint } from '@stagi/contract/crashPoints.ts';
import type { Ref } from '@stagi/contract/page.ts';
import type { Context } from '../context.ts';
import { sendCommand } from '../daemon-link/commands.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { refused } from '../http/errors.ts';
import { managedContainer, type Viewer, visibleContainer } from './access.ts';
import { moveContainer } from './status.ts';

type Caller = Context & Viewer;

export function startContainer(ctx: Caller, ref: Ref): Promise<Container> {
  return act(ctx, ref, 'start', async (trx, { id }) => {
    await trx.updateTable('container').set({ exit_code: null }).where('id', '=', id).execute();
    await moveContainer(trx, id, 'starting', { desired: 'running' });
  });
}

export function stopContainer(ctx: Caller, ref: Ref): Promise<Container> {
  return act(ctx, ref, 'stop', async (trx, { id }) => {
    await moveContainer(trx, id, 'stopping', { desired: 'stopped' });
  });
}

/** Nothing else is wanted than before: a one-time command, carried out once however often it is delivered. */
export function restartContainer(ctx: Caller, ref: Ref): Promise<Container> {
  return act(ctx, ref, 'restart', async (trx, { id, instance }) => {
    await moveContainer(trx, id, 'rebooting');
    await sendCommand(ctx, trx, instance.id, { kind: 'restart', containerId: id });
  });
}

/** Waits as `terminating` until the server shows it gone; what could not be made is gone already. */
export async function deleteContainer(ctx: Caller, ref: Ref): Promise<void> {
  await act(ctx, ref, 'delete', async (trx, { id, status }) => {
    await moveContainer(trx, id, status === 'creation failed' ? 'deleted' : 'terminating', { desired: 'absent' });
  });
}

function act(
  ctx: Caller,
  ref: Ref,
  action: keyof typeof containerCan,
  change: (trx: Db, container: Container) => Promise<void>,
): Promise<Container> {
  return inTransaction(ctx.db, async (trx) => {
    const viewer = { db: trx, workspace: ctx.workspace };
    const container = await managedContainer(viewer, ref);
    const verdict = containerCan[action](container);
    if (!verdict.allowed) throw refused(verdict.reason);
    await change(trx, container);
    crashPoint(`docker-container/${action}.stored`);
    return visibleContainer(viewer, { id: container.id });
  });
}
