import type { Ref } from '@stagi/contract/page.ts';
import { requireManagement, type Viewer, visibleServer } from '../containers/access.ts';

/** A server of the workspace whose containers the caller manages. */
export async function managedServer(viewer: Viewer, ref: Ref) {
  const server = await visibleServer(viewer, ref);
  requireManagement(viewer, server.kind);
  return server;
}
