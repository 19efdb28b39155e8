import type { api } from '@stagi/contract/api.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { addPassword } from '../passwords/changePassword.ts';
import { requirePasswords } from '../passwords/requirePasswords.ts';
import { editUser } from './edit.ts';
import { presentProfile } from './present.ts';
import { sendSignupForm } from './signupForm.ts';

export const userHandlers: HandlersOf<typeof api.user> = {
  async profile(ctx) {
    return { isSuccess: true, userProfile: await presentProfile(ctx) };
  },
  async edit(ctx, changes) {
    const user = await editUser(ctx, changes);
    return { isSuccess: true, userProfile: await presentProfile({ ...ctx, user }) };
  },
  async addFullName(ctx, { name }) {
    await ctx.db.updateTable('app_user').set({ name }).where('id', '=', ctx.user.id).execute();
    return { isSuccess: true, userProfile: await presentProfile({ ...ctx, user: { ...ctx.user, name } }) };
  },
  async signupForm(ctx, input) {
    const name = await sendSignupForm(ctx, input);
    const user = { ...ctx.user, name, isSignupFormSubmitted: true };
    return { isSuccess: true, userProfile: await presentProfile({ ...ctx, user }) };
  },
  async addPassword(ctx, input) {
    requirePasswords(ctx);
    await addPassword(ctx, input);
    return { isSuccess: true };
  },
};
