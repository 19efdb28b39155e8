import type { api } from '@stagi/contract/api.ts';
import type { HandlersOf } from '../http/mount.ts';
import { countVisit } from './addressLimit.ts';
import { changePassword } from './changePassword.ts';
import { resetPassword, resetPasswordCode } from './recovery.ts';
import { register, resendCode, verifyCode } from './register.ts';
import { endSessionOf, rotate } from './sessions.ts';
import { signIn } from './signIn.ts';
import { issueStreamTicket } from './streamTicket.ts';

export const authHandlers: HandlersOf<typeof api.auth> = {
  async register(ctx, input) {
    await countVisit(ctx);
    return { isSuccess: true, ...(await register(ctx, input)) };
  },
  async verifyCode(ctx, input) {
    await countVisit(ctx);
    return { isSuccess: true, ...(await verifyCode(ctx, input)) };
  },
  async resendCode(ctx, input) {
    await countVisit(ctx);
    await resendCode(ctx, input);
    return { isSuccess: true };
  },
  async authentication(ctx, input) {
    await countVisit(ctx);
    return { isSuccess: true, ...(await signIn(ctx, input)) };
  },
  async resetPasswordCode(ctx, input) {
    await countVisit(ctx);
    return { isSuccess: true, ...(await resetPasswordCode(ctx, input)) };
  },
  async resetPassword(ctx, input) {
    await countVisit(ctx);
    return { isSuccess: true, ...(await resetPassword(ctx, input)) };
  },
  async changePassword(ctx, input) {
    await changePassword(ctx, input);
    return { isSuccess: true };
  },
  async exchangeRefreshToken(ctx, { refreshToken }) {
    return { isSuccess: true, ...(await rotate(ctx, refreshToken)) };
  },
  async logout(ctx, { refreshToken }) {
    await endSessionOf(ctx, refreshToken);
    return { isSuccess: true };
  },
  async streamTicket(ctx) {
    return { isSuccess: true, ticket: await issueStreamTicket(ctx, ctx.credential, ctx.workspace.id) };
  },
};
