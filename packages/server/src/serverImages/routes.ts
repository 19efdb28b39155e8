import type { api } from '@stagi/contract/api.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { listImages } from './list.ts';
import { pruneImages, removeImage } from './operations.ts';

export const serverImageHandlers: HandlersOf<typeof api.serverImages> = {
  async list(ctx, { instanceRef }) {
    return { isSuccess: true, ...(await listImages(ctx, instanceRef)) };
  },
  async remove(ctx, { instanceRef, reference }) {
    return { isSuccess: true, operation: await removeImage(ctx, instanceRef, reference) };
  },
  async prune(ctx, { instanceRef, dryRun }) {
    return { isSuccess: true, operation: await pruneImages(ctx, instanceRef, dryRun) };
  },
};
