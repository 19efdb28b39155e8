import type { Container } from '@stagi/contract/containers.ts';
import { sql } from 'kysely';
import type { Membership } from '../auth/authenticate.ts';
import { containerNamed } from '../containers/access.ts';
import type { Db } from '../db/schema.ts';

/**
 * The container of that Unique ID, whichever workspace is active: a link is followed from anywhere. `forbidden` is for
 * who belongs to its workspace and may see none of its containers; to everybody else it is as if there were none.
 */
export async function findEntrance(
  db: Db,
  memberships: readonly Membership[],
  slug: string,
): Promise<Container | 'forbidden' | null> {
  // One at most: a Unique ID is one container's on the whole platform.
  const named = await db
    .selectFrom('container')
    .select('workspace_id')
    .where('slug', '=', slug)
    .where('deleted_at', 'is', null)
    .where('workspace_id', '=', sql<number>`any(${memberships.map(({ id }) => id)}::int[])`)
    .executeTakeFirst();
  const workspace = memberships.find(({ id }) => id === named?.workspace_id);
  return workspace ? containerNamed({ db, workspace }, slug) : null;
}

export const hasPort = ({ portMappings }: Container, port: number): boolean =>
  portMappings.some(({ host }) => host === port);
