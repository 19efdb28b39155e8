import type { api } from '@stagi/contract/api.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { issuePortCode } from './code.ts';

export const containerAccessHandlers: HandlersOf<typeof api.containerAccess> = {
  async enter(ctx, input) {
    return { isSuccess: true, link: await issuePortCode(ctx, input) };
  },
};
