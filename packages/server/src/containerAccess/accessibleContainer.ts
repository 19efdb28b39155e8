import type { Container } from '@stagi/contract/containers.ts';
import { sql } from 'kysely';
import { findContainerBySlug } from '../containers/access.ts';
import type { Db } from '../db/schema.ts';
import type { Membership } from '../sessions/authenticate.ts';

/**
 * The container of a Unique ID in any of the caller's workspaces, whichever is active. `forbidden` for a member of its
 * workspace without the permission to see containers; `null` for everybody else.
 */
export async function findAccessibleContainer(
  db: Db,
  memberships: readonly Membership[],
  slug: string,
): Promise<Container | 'forbidden' | null> {
  // At most one: a Unique ID is unique on the platform.
  const named = await db
    .selectFrom('container')
    .select('workspace_id')
    .where('slug', '=', slug)
    .where('deleted_at', 'is', null)
    .where('workspace_id', '=', sql<number>`any(${memberships.map(({ id }) => id)}::int[])`)
    .executeTakeFirst();
  const workspace = memberships.find(({ id }) => id === named?.workspace_id);
  return workspace ? findContainerBySlug({ db, workspace }, slug) : null;
}

export const hasPort = ({ portMappings }: Container, port: number): boolean =>
  portMappings.some(({ host }) => host === port);
