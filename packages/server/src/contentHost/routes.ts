import type { api } from '@stagi/contract/api.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { pageOf } from '../http/paging.ts';
import { createPreviewLink } from './previewLink.ts';
import { createShareLink, listShareLinks, revokeShareLink } from './shareLinks.ts';
import { createZipLink } from './zipLink.ts';

export const sharingHandlers: HandlersOf<typeof api.sharing> = {
  previewLink: async (ctx, input) => ({ isSuccess: true, ...(await createPreviewLink(ctx, input)) }),
  zipLink: async (ctx, input) => ({ isSuccess: true, ...(await createZipLink(ctx, input)) }),
  async shareLinks(ctx, input) {
    const { entities, count } = await listShareLinks(ctx, input);
    return pageOf(entities, count, input.entityFilterRequest);
  },
  createShareLink: async (ctx, input) => ({ isSuccess: true, entity: await createShareLink(ctx, input) }),
  async revokeShareLink(ctx, input) {
    await revokeShareLink(ctx, input);
    return { isSuccess: true };
  },
};
