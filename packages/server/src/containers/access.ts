import type { Container } from '@stagi/contract/containers.ts';
import type { Ref } from '@stagi/contract/page.ts';
import type { Permission } from '@stagi/contract/permissions.ts';
import { sql } from 'kysely';
import type { InstanceTable } from '../db/computeTables.ts';
import type { Db } from '../db/schema.ts';
import { forbidden, notFound } from '../http/errors.ts';
import { presentContainer } from './present.ts';
import { findView, type ServerKinds } from './queries.ts';

type Kind = InstanceTable['kind'];

/** The member who asks, with their current permissions. */
export interface Viewer {
  db: Db;
  workspace: { id: number; permissions: readonly Permission[] };
}

/** The permission to manage containers on servers of each kind. */
export const MANAGES: Record<Kind, Permission> = {
  rented: 'INSTANCE_RENTED_MANAGEMENT',
  'self-hosted': 'SELFHOSTED_INSTANCE_MANAGEMENT',
};

/** Members with PROJECT_MANAGEMENT see every container; others those on servers of the kinds they manage. */
export function visibleKinds(permissions: readonly Permission[]): ServerKinds {
  return (['rented', 'self-hosted'] as const).filter(
    (kind) => permissions.includes('PROJECT_MANAGEMENT') || permissions.includes(MANAGES[kind]),
  );
}

export function requireManagement(viewer: Viewer, kind: Kind): void {
  if (!viewer.workspace.permissions.includes(MANAGES[kind])) throw forbidden();
}

/** A container that the caller may see. Any other is not found, whether it exists or not. */
export async function visibleContainer(viewer: Viewer, ref: Ref): Promise<Container> {
  const kinds = visibleKinds(viewer.workspace.permissions);
  const row = await findView(viewer.db, viewer.workspace.id, kinds, ref);
  if (!row) throw notFound();
  return presentContainer(row);
}

/** The container with this Unique ID in the workspace; `forbidden` if the member may see no containers at all. */
export async function findContainerBySlug(
  { db, workspace }: Viewer,
  slug: string,
): Promise<Container | 'forbidden' | null> {
  const kinds = visibleKinds(workspace.permissions);
  const row = await findView(db, workspace.id, kinds.length > 0 ? kinds : ['rented', 'self-hosted'], { slug });
  if (!row) return null;
  return kinds.length > 0 ? presentContainer(row) : 'forbidden';
}

/** A container that the caller may see and manage, locked until the transaction of `viewer.db` ends. */
export async function lockManagedContainer(viewer: Viewer, ref: Ref): Promise<Container> {
  const seen = await visibleContainer(viewer, ref);
  requireManagement(viewer, seen.instance.kind);
  await viewer.db.selectFrom('container').select('id').where('id', '=', seen.id).forNoKeyUpdate().execute();
  return visibleContainer(viewer, { id: seen.id });
}

/** A server of the workspace, of a kind that the caller may see containers on. */
export async function visibleServer(viewer: Viewer, ref: Ref): Promise<{ id: number; kind: Kind }> {
  const row = await viewer.db
    .selectFrom('instance')
    .select(['id', 'kind'])
    .where('workspace_id', '=', viewer.workspace.id)
    .where('id' in ref ? sql<boolean>`id = ${ref.id}::bigint` : sql<boolean>`slug = ${ref.slug} and closed_at is null`)
    .executeTakeFirst();
  if (!row || !visibleKinds(viewer.workspace.permissions).includes(row.kind)) throw notFound();
  return row;
}
