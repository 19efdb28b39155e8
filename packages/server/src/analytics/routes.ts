import type { api } from '@stagi/contract/api.ts';
import type { HandlersOf } from '../http/mount.ts';
import { keepEvent } from './keep.ts';

export const analyticsHandlers: HandlersOf<typeof api.analytics> = {
  async event(ctx, input) {
    await keepEvent(ctx, input);
    return { isSuccess: true };
  },
};
