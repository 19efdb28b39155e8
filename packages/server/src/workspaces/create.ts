import { grantStarterCredit, openAccounts } from '../billing/accounts.ts';
import type { Context } from '../context.ts';
import type { Db } from '../db/schema.ts';

/** The workspace every person gets: they own it, and the starter credit is booked there. */
export async function createPersonalWorkspace(
  ctx: Context,
  trx: Db,
  user: { id: number; name: string },
): Promise<number> {
  const workspace = await trx
    .insertInto('workspace')
    .values({ name: `${user.name}’s workspace`.slice(0, 100), personal_of: user.id })
    .returning('id')
    .executeTakeFirstOrThrow();
  await trx.insertInto('membership').values({ workspace_id: workspace.id, user_id: user.id, role: 'Owner' }).execute();
  await openAccounts(trx, workspace.id);
  await grantStarterCredit(ctx, trx, workspace.id, user.id);
  return workspace.id;
}
