import type { api } from '@stagi/contract/api.ts';
import { addPassword } from '../auth/changePassword.ts';
import type { HandlersOf } from '../http/mount.ts';
import { editUser } from './edit.ts';
import { presentProfile } from './present.ts';

export const userHandlers: HandlersOf<typeof api.user> = {
  async profile(ctx) {
    return { isSuccess: true, userProfile: presentProfile(ctx) };
  },
  async edit(ctx, changes) {
    const user = await editUser(ctx, changes);
    return { isSuccess: true, userProfile: presentProfile({ ...ctx, user }) };
  },
  async addPassword(ctx, input) {
    await addPassword(ctx, input);
    return { isSuccess: true };
  },
};
