import { z } from 'zod';

export const AuthType = z.enum(['email', 'google', 'github']);
export type AuthType = z.infer<typeof AuthType>;

export const SecondFactorMethod = z.enum(['passkey', 'totp', 'recovery-code']);
export type SecondFactorMethod = z.infer<typeof SecondFactorMethod>;
