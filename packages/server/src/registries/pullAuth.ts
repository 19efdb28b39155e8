import type { RegistryAuth } from '@stagi/contract/daemon.ts';
import { parseImage } from '@stagi/contract/imageReference.ts';
import { sql } from 'kysely';
import type { Context } from '../context.ts';

export const sealPlace = (workspaceId: number, host: string): string => `registry|${workspaceId}|${host}`;

/**
 * What a server logs in to the registry of a container's image with: the credential of its workspace for exactly that
 * host, if it was entered for this server. Null when there is none, and for a container that is not to be created on this server under this generation.
 */
export async function pullAuthOf(
  { db, secrets }: Pick<Context, 'db' | 'secrets'>,
  instanceId: number,
  asked: { containerId: number; gen: number },
): Promise<RegistryAuth | null> {
  const container = await db
    .selectFrom('container')
    .select(['workspace_id', 'image'])
    .where('id', '=', asked.containerId)
    .where('instance_id', '=', instanceId)
    .where('gen', '=', asked.gen)
    .where('deleted_at', 'is', null)
    .where('desired', '<>', 'absent')
    .executeTakeFirst();
  const image = container && parseImage(container.image);
  if (!container || !image) return null;
  const credential = await db
    .selectFrom('registry_credential')
    .select(['username', 'secret_sealed'])
    .where('workspace_id', '=', container.workspace_id)
    .where('host', '=', image.host)
    .where(
      sql<boolean>`exists (select from instance i where i.id = ${instanceId}
        and case i.kind when 'rented' then for_rented else i.id = any(own_servers) end)`,
    )
    .executeTakeFirst();
  if (!credential) return null;
  return {
    serveraddress: image.host,
    username: credential.username,
    password: secrets.open(credential.secret_sealed, sealPlace(container.workspace_id, image.host)),
  };
}
