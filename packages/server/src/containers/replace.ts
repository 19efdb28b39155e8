import { containerCan } from '@stagi/contract/containers.ts';
import type { DesiredContainer } from '@stagi/contract/daemon.ts';
import type { Ref } from '@stagi/contract/page.ts';
import type { Context } from '../context.ts';
import type { Db } from '../db/schema.ts';
import { refused } from '../http/errors.ts';
import { lockManagedContainer, type Viewer } from './access.ts';
import { openEnv } from './desired.ts';
import { transitionContainer } from './status.ts';

/**
 * Deletes a container that does not exist on its server yet, so that its Unique ID, CPUs, GPUs and ports are free for the
 * one that replaces it. Returns its environment. If the server makes it all the same, it is removed like any container
 * that appears after its deletion.
 */
export async function replaceContainer(
  ctx: Context & Viewer,
  trx: Db,
  ref: Ref,
): Promise<DesiredContainer['spec']['env']> {
  const container = await lockManagedContainer({ db: trx, workspace: ctx.workspace }, ref);
  const verdict = containerCan.replace(container);
  if (!verdict.allowed) throw refused(verdict.reason);
  const row = await trx
    .selectFrom('container')
    .select(['slug', 'env_sealed'])
    .where('id', '=', container.id)
    .executeTakeFirstOrThrow();
  await transitionContainer(trx, container.id, 'deleted', { desired: 'absent' });
  return openEnv(ctx, row);
}
