import type { api } from '@stagi/contract/api.ts';
import type { HandlersOf } from '../http/mount.ts';
import { sendFeedback } from './send.ts';

export const feedbackHandlers: HandlersOf<typeof api.feedback> = {
  async send(ctx, input) {
    await sendFeedback(ctx, input);
    return { isSuccess: true };
  },
};
