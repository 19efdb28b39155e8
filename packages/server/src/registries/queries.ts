import type { RegistryCredential } from '@stagi/contract/registries.ts';
import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';

/** Without their secrets. */
export async function listCredentials(db: Db, workspaceId: number, host?: string): Promise<RegistryCredential[]> {
  let all = db
    .selectFrom('registry_credential as c')
    .leftJoin('app_user', 'app_user.id', 'c.created_by')
    .select(['c.id', 'c.host', 'c.username', 'c.created_at', 'app_user.name as creator', 'c.for_rented'])
    .select(
      sql<
        { id: number; title: string }[]
      >`coalesce((select json_agg(json_build_object('id', i.id, 'title', i.title) order by i.title, i.id)
      from instance i where i.id = any(c.own_servers) and i.workspace_id = c.workspace_id and i.closed_at is null), '[]')`.as(
        'own',
      ),
    )
    .where('c.workspace_id', '=', workspaceId);
  if (host !== undefined) all = all.where('c.host', '=', host);
  const rows = await all.orderBy('c.host').execute();
  return rows.map((row) => ({
    id: row.id,
    host: row.host,
    username: row.username,
    createdAt: row.created_at.toISOString(),
    createdBy: row.creator,
    isForRented: row.for_rented,
    ownServers: row.own,
  }));
}
