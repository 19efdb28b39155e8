import type { api } from '@stagi/contract/api.ts';
import { notFound } from '../http/errors.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { placesOf, written } from './written.ts';

export const contentHandlers: HandlersOf<typeof api.content> = {
  list: async (_ctx, { section, language }) => ({
    isSuccess: true,
    entities: (await written()).list(section, language),
  }),
  async page(ctx, { path, language }) {
    const entity = await (await written()).page(path, language, placesOf(ctx.config));
    if (!entity) throw notFound();
    return { isSuccess: true, entity };
  },
};
