import type { Ref } from '@stagi/contract/page.ts';
import type { ImageOperation, ServerImage } from '@stagi/contract/serverImages.ts';
import type { Viewer } from '../containers/access.ts';
import { imagesOf } from './images.ts';
import { managedServer } from './managedServer.ts';
import { lastOperations } from './operations.ts';

/** The images of a server, and what was asked of it. */
export async function listImages(
  viewer: Viewer,
  ref: Ref,
): Promise<{ entities: ServerImage[]; seenAt: string | null; operations: ImageOperation[] }> {
  const server = await managedServer(viewer, ref);
  return { ...(await imagesOf(viewer.db, server)), operations: await lastOperations(viewer.db, server.id) };
}
