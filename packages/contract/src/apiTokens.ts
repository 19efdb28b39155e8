import { z } from 'zod';
import { call } from './call.ts';
import { Done, Id, ListInput, listOf, oneOf } from './page.ts';
import { PERMISSIONS, ROLES } from './permissions.ts';

const TokenPermissions = z.array(z.enum(PERMISSIONS));

export const ApiToken = z.object({
  id: Id,
  description: z.string(),
  /** How the token begins, to recognise one that was found somewhere: `stg_12_`. */
  prefix: z.string(),
  /** The only workspace that it works in. */
  clientId: Id,
  clientName: z.string(),
  /** What it is limited to; `null`: to nothing but what its owner may. */
  permissions: TokenPermissions.nullable(),
  createdAt: z.string(),
  expiresAt: z.string().nullable(),
  /** To a minute. */
  lastUsedAt: z.string().nullable(),
  lastUsedIp: z.string().nullable(),
  /** Since when it is refused for ever, and why. */
  ended: z.object({ at: z.string(), by: z.enum(['archived', 'expired', 'left']) }).nullable(),
});
export type ApiToken = z.infer<typeof ApiToken>;

/** The oldest version of the command line that this platform understands. */
export const CLI_VERSION_MIN = '1.0.0';

export const apiTokens = {
  list: call({
    path: 'api-token/list',
    summary: 'My own API tokens, of all my workspaces: those that work, or with `archived` those that have ended.',
    auth: 'signed-in',
    input: ListInput.extend({ archived: z.boolean().default(false) }),
    output: listOf(ApiToken),
  }),
  create: call({
    path: 'api-token/create',
    summary: 'Makes an API token for this workspace; the token is in this answer and nowhere else.',
    auth: 'member',
    stepUp: true,
    input: z.object({
      description: z
        .string('Description is required')
        .trim()
        .min(1, 'Description is required')
        .max(100, 'Description is too long: at most 100 characters'),
      /** Without it the token works until it is archived. */
      expiresAt: z.iso.datetime({ offset: true, error: 'Enter a valid date' }).optional(),
      /** Without it the token may whatever its owner may; at each call no more than that. */
      permissions: TokenPermissions.min(1, 'Choose at least one permission').optional(),
    }),
    output: oneOf(ApiToken).extend({ token: z.string() }),
  }),
  archive: call({
    path: 'api-token/archive',
    summary: 'Ends one of my API tokens for ever, and every stream opened with it.',
    auth: 'signed-in',
    input: z.object({ id: Id }),
    output: Done,
  }),
  cliCheck: call({
    path: 'api-token/cli/check',
    summary: 'Tells a command line whose token it has, where it works, and whether its own version is understood.',
    auth: 'member',
    byToken: true,
    input: z.object({
      clientVersion: z
        .string()
        .trim()
        .max(40)
        .regex(/^\d{1,6}\.\d{1,6}\.\d{1,6}(?:[-+][0-9A-Za-z.+-]*)?$/, 'A version such as 1.2.3'),
    }),
    output: z.object({
      isSuccess: z.literal(true),
      isSupported: z.boolean(),
      minimumVersion: z.string(),
      user: z.object({ userId: Id, name: z.string(), email: z.string() }),
      client: z.object({ clientId: Id, clientName: z.string(), roleName: z.enum(ROLES) }),
      /** What this caller may do: of a token, what is left of it under its owner's role. */
      permissions: z.array(z.enum(PERMISSIONS)),
      /** Of the token; `null` also for a session. */
      expiresAt: z.string().nullable(),
    }),
  }),
};
