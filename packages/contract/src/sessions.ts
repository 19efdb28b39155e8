import { z } from 'zod';
import { AuthType } from './authResponse.ts';
import { call } from './call.ts';
import { ListInput, listOf, SuccessResponse } from './page.ts';

export const Session = z.object({
  id: z.uuid(),
  /** From the User-Agent; `null` where it is unknown. */
  device: z.object({
    browser: z.string().nullable(),
    os: z.string().nullable(),
    kind: z.enum(['desktop', 'mobile', 'tablet', 'other']),
  }),
  /** The IP address of its last use. It is not looked up anywhere. */
  ip: z.string().nullable(),
  authType: AuthType,
  createdAt: z.string(),
  /** Accurate to five minutes, as tokens are refreshed that often. */
  lastUsedAt: z.string(),
  /** Whether this call was made in it. */
  current: z.boolean(),
});
export type Session = z.infer<typeof Session>;

export const sessions = {
  list: call({
    path: 'auth/session/list',
    summary: 'My active sessions: device, IP address and last use.',
    auth: 'signed-in',
    input: ListInput,
    output: listOf(Session),
  }),
  revoke: call({
    path: 'auth/session/revoke',
    summary: 'Revokes one of my sessions, or all but the current one.',
    auth: 'signed-in',
    stepUp: true,
    input: z.union([z.strictObject({ id: z.uuid() }), z.strictObject({ others: z.literal(true) })]),
    output: SuccessResponse.extend({ ended: z.number().int() }),
  }),
};
