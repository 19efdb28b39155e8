import type { api } from '@stagi/contract/api.ts';
import { limitSignInRate } from '../attempts/addressRateLimit.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { changePassword } from '../passwords/changePassword.ts';
import { requirePasswords } from '../passwords/requirePasswords.ts';
import { revokeSessionByToken, rotateRefreshToken } from '../sessions/sessions.ts';
import { issueStreamTicket } from '../sessions/streamTicket.ts';
import { resetPassword, resetPasswordCode } from './recovery.ts';
import { register, resendCode, verifyCode } from './register.ts';
import { signIn } from './signIn.ts';

export const authHandlers: HandlersOf<typeof api.auth> = {
  async register(ctx, input) {
    requirePasswords(ctx);
    await limitSignInRate(ctx);
    return { isSuccess: true, ...(await register(ctx, input)) };
  },
  async verifyCode(ctx, input) {
    requirePasswords(ctx);
    await limitSignInRate(ctx);
    return { isSuccess: true, ...(await verifyCode(ctx, input)) };
  },
  async resendCode(ctx, input) {
    requirePasswords(ctx);
    await limitSignInRate(ctx);
    await resendCode(ctx, input);
    return { isSuccess: true };
  },
  async authentication(ctx, input) {
    requirePasswords(ctx);
    await limitSignInRate(ctx);
    return { isSuccess: true, ...(await signIn(ctx, input)) };
  },
  async resetPasswordCode(ctx, input) {
    requirePasswords(ctx);
    await limitSignInRate(ctx);
    return { isSuccess: true, ...(await resetPasswordCode(ctx, input)) };
  },
  async resetPassword(ctx, input) {
    requirePasswords(ctx);
    await limitSignInRate(ctx);
    return { isSuccess: true, ...(await resetPassword(ctx, input)) };
  },
  async changePassword(ctx, input) {
    requirePasswords(ctx);
    await changePassword(ctx, input);
    return { isSuccess: true };
  },
  async exchangeRefreshToken(ctx, { refreshToken }) {
    return { isSuccess: true, ...(await rotateRefreshToken(ctx, refreshToken)) };
  },
  async logout(ctx, { refreshToken }) {
    await revokeSessionByToken(ctx, refreshToken);
    return { isSuccess: true };
  },
  async streamTicket(ctx) {
    return { isSuccess: true, ticket: await issueStreamTicket(ctx, ctx.credential, ctx.workspace.id) };
  },
};
