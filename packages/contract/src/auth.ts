import { z } from 'zod';
import { AuthResponse, SignInResponse } from './authResponse.ts';
import { call } from './call.ts';
import { CurrentPassword, Email, Name, NewPassword, Password, VerificationCode } from './fields.ts';
import { SuccessResponse } from './page.ts';
import { InviteCode } from './signUpRules.ts';

/** The registration or recovery that a code was mailed for; the default is the newest one of the address. */
const Flow = z.string().max(100).optional();
const RefreshToken = z.string().min(1).max(400);

/** A single-use ticket that opens one browser stream (events, log tail) within 30 s. */
export const StreamTicket = z.object({ isSuccess: z.literal(true), ticket: z.string() });

export const auth = {
  register: call({
    path: 'auth/email/register',
    summary: 'Starts a sign-up: mails an 8-digit code. The answer is the same for a known and an unknown address.',
    auth: 'public',
    input: z.object({
      name: Name,
      email: Email,
      password: NewPassword,
      /** Needed where not everybody may sign up. */ invite: InviteCode.optional(),
    }),
    output: SuccessResponse.extend({ flow: z.string() }),
  }),
  verifyCode: call({
    path: 'auth/email/verify-code',
    summary: 'Ends a sign-up with the mailed code: makes the user and their workspace, and signs in.',
    auth: 'public',
    input: z.object({ email: Email, code: VerificationCode, flow: Flow }),
    output: AuthResponse,
  }),
  resendCode: call({
    path: 'auth/email/resend-code',
    summary: 'Mails a new code for a pending sign-up; at most one a minute.',
    auth: 'public',
    input: z.object({ email: Email, flow: Flow }),
    output: SuccessResponse,
  }),
  authentication: call({
    path: 'auth/email/authentication',
    summary: 'Signs in with e-mail and password; asks for the second factor where there is one.',
    auth: 'public',
    input: z.object({ email: Email, password: Password }),
    output: SignInResponse,
  }),
  resetPasswordCode: call({
    path: 'auth/email/reset-password-code',
    summary: 'Mails an 8-digit code for a new password; at most one a minute. The answer is the same for any address.',
    auth: 'public',
    input: z.object({ email: Email }),
    output: SuccessResponse.extend({ flow: z.string() }),
  }),
  resetPassword: call({
    path: 'auth/email/reset-password',
    summary:
      'Sets a new password with the mailed code, ends every session of the account and signs in; asks for the second factor where there is one.',
    auth: 'public',
    input: z.object({ email: Email, code: VerificationCode, newPassword: NewPassword, flow: Flow }),
    output: SignInResponse,
  }),
  changePassword: call({
    path: 'auth/email/change-password',
    summary: 'Changes my password and ends every other session of the account.',
    auth: 'signed-in',
    input: z.object({ currentPassword: CurrentPassword, newPassword: NewPassword }),
    output: SuccessResponse,
  }),
  exchangeRefreshToken: call({
    path: 'auth/exchange-refresh-token',
    summary: 'Exchanges a refresh token for a new pair. A reused token ends the session.',
    auth: 'public',
    input: z.object({ refreshToken: RefreshToken }),
    output: AuthResponse,
  }),
  logout: call({
    path: 'logout',
    summary: 'Ends the session of a refresh token. Succeeds when it has ended already.',
    auth: 'public',
    input: z.object({ refreshToken: RefreshToken }),
    output: SuccessResponse,
  }),
  streamTicket: call({
    path: 'stream-ticket',
    summary: 'A one-use ticket that opens one browser stream within 30 seconds.',
    auth: 'member',
    byToken: true,
    input: z.object({}),
    output: StreamTicket,
  }),
};
