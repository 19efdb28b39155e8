import { z } from 'zod';
import type { Credential } from './authenticate.ts';

/** Names the session or token that something was made with, which ends with it. For sealed addresses. */
export const NamedCredential = z.union([
  z.object({ kind: z.literal('session'), id: z.string() }),
  z.object({ kind: z.literal('token'), id: z.number() }),
]);
export type NamedCredential = z.infer<typeof NamedCredential>;

export const nameOfCredential = (credential: Credential): NamedCredential =>
  credential.kind === 'token' ? { kind: 'token', id: credential.id } : { kind: 'session', id: credential.id };
