import type { api } from '@stagi/contract/api.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { pageOf } from '../http/paging.ts';
import { feedbackImage, listFeedback, viewFeedback } from './list.ts';
import { sendFeedback } from './send.ts';

export const feedbackHandlers: HandlersOf<typeof api.feedback> = {
  async send(ctx, input) {
    await sendFeedback(ctx, input);
    return { isSuccess: true };
  },
  async list({ db }, input) {
    const { entities, count } = await listFeedback(db, input);
    return pageOf(entities, count, input.entityFilterRequest);
  },
  view: async ({ db }, { id }) => ({ isSuccess: true, entity: await viewFeedback(db, id) }),
  image: async (ctx, input) => ({ isSuccess: true, ...(await feedbackImage(ctx, input)) }),
};
