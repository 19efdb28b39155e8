import { z } from 'zod';

export const AuthType = z.enum(['email', 'google', 'github']);
export type AuthType = z.infer<typeof AuthType>;

export const SecondFactorMethod = z.enum(['passkey', 'totp', 'recovery-code']);
export type SecondFactorMethod = z.infer<typeof SecondFactorMethod>;

export const AuthResponse = z.object({
  isSuccess: z.literal(true),
  accessToken: z.string(),
  refreshToken: z.string(),
  message: z.string().optional(),
});
export type AuthResponse = z.infer<typeof AuthResponse>;

/** What a way in answers: tokens, or that a second factor is to be shown with `auth/second-factor/verify`. */
export const EnterResponse = z.union([
  AuthResponse,
  z.object({
    isSuccess: z.literal(true),
    secondFactor: z.object({ ticket: z.string(), methods: z.array(SecondFactorMethod) }),
  }),
]);
export type EnterResponse = z.infer<typeof EnterResponse>;
