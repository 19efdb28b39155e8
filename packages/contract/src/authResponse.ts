import { z } from 'zod';
import { Id } from './page.ts';
import { ProviderId } from './providerId.ts';

/** `email`, also by a passkey, or the identity provider. */
export const AuthType = z.union([z.literal('email'), ProviderId]);
export type AuthType = z.infer<typeof AuthType>;

export const SecondFactorMethod = z.enum(['passkey', 'totp', 'recovery-code']);
export type SecondFactorMethod = z.infer<typeof SecondFactorMethod>;

export const AuthResponse = z.object({
  isSuccess: z.literal(true),
  accessToken: z.string(),
  refreshToken: z.string(),
  message: z.string().optional(),
  /** The workspace that a new account has joined by its invitation. */
  joinedClientId: Id.optional(),
});
export type AuthResponse = z.infer<typeof AuthResponse>;

/** The answer of a sign-in: tokens, or a request for the second factor (`auth/second-factor/verify`). */
export const SignInResponse = z.union([
  AuthResponse,
  z.object({
    isSuccess: z.literal(true),
    secondFactor: z.object({ ticket: z.string(), methods: z.array(SecondFactorMethod) }),
  }),
]);
export type SignInResponse = z.infer<typeof SignInResponse>;
