import type { RegistryCredential } from '@stagi/contract/registries.ts';
import type { Db } from '../db/schema.ts';

/** Without their secrets. */
export async function listCredentials(db: Db, workspaceId: number, host?: string): Promise<RegistryCredential[]> {
  let all = db
    .selectFrom('registry_credential as c')
    .leftJoin('app_user', 'app_user.id', 'c.created_by')
    .select(['c.id', 'c.host', 'c.username', 'c.created_at', 'app_user.name as creator'])
    .where('c.workspace_id', '=', workspaceId);
  if (host !== undefined) all = all.where('c.host', '=', host);
  const rows = await all.orderBy('c.host').execute();
  return rows.map((row) => ({
    id: row.id,
    host: row.host,
    username: row.username,
    createdAt: row.created_at.toISOString(),
    createdBy: row.creator,
  }));
}
