import type { Ref } from '@stagi/contract/page.ts';
import { requireManagement, type Viewer, visibleServer } from './access.ts';

/** The images of the last inventory of a server. */
export async function listImages(viewer: Viewer, ref: Ref) {
  const server = await visibleServer(viewer, ref);
  requireManagement(viewer, server.kind);
  const node = await viewer.db
    .selectFrom('daemon_node')
    .select(['inventory', 'inventory_at'])
    .where('instance_id', '=', server.id)
    .executeTakeFirst();
  return { entities: node?.inventory?.images ?? [], seenAt: node?.inventory_at?.toISOString() ?? null };
}
