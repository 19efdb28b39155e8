import type { Container } from '@stagi/contract/containers.ts';
import { sql } from 'kysely';
import { findContainerBySlug } from '../containers/access.ts';
import type { Db } from '../db/schema.ts';
import type { Membership } from '../sessions/authenticate.ts';
import type { PortTarget } from './address.ts';

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

/** A port of a container that somebody may reach now. */
export interface PortAccess {
  containerId: number;
  instanceId: number;
  /** The port inside the container. */
  port: number;
  status: Container['status'];
  /** Who may; `null` for a public port, which asks nobody. */
  userId: number | null;
}

/** The host port's mapping, for a user who may see the container; `null` if the container does not have it. */
export function accessibleMapping(
  { id, instance, portMappings, status }: Container,
  port: number,
  userId: number,
): PortAccess | null {
  const mapping = portMappings.find(({ host }) => host === port);
  if (!mapping) return null;
  return { containerId: id, instanceId: instance.id, port: mapping.container, status, userId };
}

/** A public port: whoever asks. `null` for private ones, whether they exist or not. */
export async function findPublicPort(db: Db, { slug, port }: PortTarget): Promise<PortAccess | null> {
  const row = await db
    .selectFrom('container')
    .innerJoin('workspace', 'workspace.id', 'container.workspace_id')
    .select(['container.id', 'container.instance_id', 'container.ports', 'container.status'])
    .where('container.slug', '=', slug)
    .where('container.deleted_at', 'is', null)
    .where('workspace.disabled_at', 'is', null)
    .executeTakeFirst();
  const mapping = row?.ports.find(({ host }) => host === port);
  if (!row || mapping?.visibility !== 'public') return null;
  const { id, instance_id, status } = row;
  return { containerId: id, instanceId: instance_id, port: mapping.container, status, userId: null };
}

export const hasPort = ({ portMappings }: Container, port: number): boolean =>
  portMappings.some(({ host }) => host === port);
