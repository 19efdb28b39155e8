import type { api } from '@stagi/contract/api.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { changeEmail, confirmNewEmail } from './changeEmail.ts';
import { deleteAccount } from './deleteAccount.ts';
import { presentDeletion, previewDeletion } from './deletionPreview.ts';
import { presentProfile } from './present.ts';

export const accountHandlers: HandlersOf<typeof api.account> = {
  async changeEmail(ctx, input) {
    await changeEmail(ctx, input);
    return { isSuccess: true };
  },
  async confirmNewEmail(ctx, input) {
    const email = await confirmNewEmail(ctx, input);
    return { isSuccess: true, userProfile: await presentProfile({ ...ctx, user: { ...ctx.user, email } }) };
  },
  async deletion({ db, user }) {
    return { isSuccess: true, ...presentDeletion(await previewDeletion(db, user.id)) };
  },
  async delete(ctx, input) {
    await deleteAccount(ctx, input);
    return { isSuccess: true };
  },
};
