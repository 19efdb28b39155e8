import { z } from 'zod';
import { AuthType } from './authResponse.ts';
import { call } from './call.ts';
import { Done, ListInput, listOf } from './page.ts';

export const Session = z.object({
  id: z.uuid(),
  /** What the browser says of itself; `null` where it says nothing that is known. */
  device: z.object({
    browser: z.string().nullable(),
    os: z.string().nullable(),
    kind: z.enum(['desktop', 'mobile', 'tablet', 'other']),
  }),
  /** The address of its last use. Where in the world that is, nobody is asked. */
  ip: z.string().nullable(),
  authType: AuthType,
  createdAt: z.string(),
  /** To five minutes: tokens are renewed that often. */
  lastUsedAt: z.string(),
  /** Whether this call was made in it. */
  current: z.boolean(),
});
export type Session = z.infer<typeof Session>;

export const sessions = {
  list: call({
    path: 'auth/session/list',
    summary: 'Where I am logged in: device, address and last use of every session that has not ended.',
    auth: 'signed-in',
    input: ListInput,
    output: listOf(Session),
  }),
  revoke: call({
    path: 'auth/session/revoke',
    summary: 'Ends one of my sessions, or all but the one that this call is made in.',
    auth: 'signed-in',
    input: z.union([z.strictObject({ id: z.uuid() }), z.strictObject({ others: z.literal(true) })]),
    output: Done.extend({ ended: z.number().int() }),
  }),
};
