import type { api } from '@stagi/contract/api.ts';
import type { HandlersOf } from '../http/mount.ts';
import { enterPort } from './code.ts';

export const containerAccessHandlers: HandlersOf<typeof api.containerAccess> = {
  async enter(ctx, input) {
    return { isSuccess: true, link: await enterPort(ctx, input) };
  },
};
