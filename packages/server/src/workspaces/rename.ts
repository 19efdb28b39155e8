import type { ClientRelation } from '@stagi/contract/user.ts';
import { announce } from '../bus/bus.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { requireVersion } from '../http/editVersion.ts';
import { presentRelation, workspaceVersion } from '../memberships/relation.ts';
import type { Membership } from '../sessions/authenticate.ts';

/** Renames the workspace and announces the change to its members' open pages. */
export async function renameWorkspace(
  ctx: Pick<Context, 'pg'> & { db: Db; workspace: Membership },
  { newName: name, version }: { newName: string; version?: string | undefined },
): Promise<ClientRelation> {
  const { db, workspace } = ctx;
  await inTransaction(db, async (trx) => {
    const current = await trx
      .selectFrom('workspace')
      .select('name')
      .where('id', '=', workspace.id)
      .forNoKeyUpdate()
      .executeTakeFirstOrThrow();
    requireVersion(version, workspaceVersion(current));
    await trx.updateTable('workspace').set({ name }).where('id', '=', workspace.id).execute();
    await announce(trx, 'changed', { entity: 'client', id: workspace.id, workspaceId: workspace.id });
  });
  return presentRelation(ctx, { ...workspace, name });
}
