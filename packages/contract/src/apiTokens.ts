import { z } from 'zod';
import { call } from './call.ts';
import { nameOf } from './fields.ts';
import { Id, ListInput, listOf, oneOf, SuccessResponse } from './page.ts';
import { PERMISSIONS, ROLES } from './permissions.ts';
import { text } from './text.ts';

const TokenPermissions = z.array(z.enum(PERMISSIONS));

export const ApiToken = z.object({
  id: Id,
  description: z.string(),
  /** The start of the token, to recognise one that was found somewhere: `stg_12_`. */
  prefix: z.string(),
  /** The only workspace that it is valid for. */
  clientId: Id,
  clientName: z.string(),
  /** The permissions it is limited to; `null`: all of its owner's. */
  permissions: TokenPermissions.nullable(),
  createdAt: z.string(),
  expiresAt: z.string().nullable(),
  /** Accurate to a minute. */
  lastUsedAt: z.string().nullable(),
  lastUsedIp: z.string().nullable(),
  /** When it stopped working, and why. */
  ended: z.object({ at: z.string(), by: z.enum(['archived', 'expired', 'left']) }).nullable(),
});
export type ApiToken = z.infer<typeof ApiToken>;

/** The oldest version of the command line that this platform supports. */
export const CLI_VERSION_MIN = '1.0.0';

export const apiTokens = {
  list: call({
    path: 'api-token/list',
    summary: 'My API tokens of all workspaces: the active ones, or with `archived` the ended ones.',
    auth: 'signed-in',
    input: ListInput.extend({ archived: z.boolean().default(false) }),
    output: listOf(ApiToken),
  }),
  create: call({
    path: 'api-token/create',
    summary: 'Creates an API token for this workspace; only this answer contains the token.',
    auth: 'member',
    stepUp: true,
    input: z.object({
      description: nameOf({
        required: text('Description is required'),
        tooLong: text('Description is too long: at most 100 characters'),
        max: 100,
      }),
      /** Without it the token is valid until it is archived. */
      expiresAt: z.iso.datetime({ offset: true, error: text('Enter a valid date') }).optional(),
      /** Without it the token has all permissions of its owner; at each call never more than its owner has then. */
      permissions: TokenPermissions.min(1, text('Choose at least one permission')).optional(),
    }),
    output: oneOf(ApiToken).extend({ token: z.string() }),
  }),
  archive: call({
    path: 'api-token/archive',
    summary: 'Revokes one of my API tokens permanently, and closes every stream opened with it.',
    auth: 'signed-in',
    input: z.object({ id: Id }),
    output: SuccessResponse,
  }),
  cliCheck: call({
    path: 'api-token/cli/check',
    summary:
      'For a command line: the owner, workspace and permissions of its token, and whether its version is supported.',
    auth: 'member',
    byToken: true,
    input: z.object({
      clientVersion: z
        .string()
        .trim()
        .max(40)
        .regex(/^\d{1,6}\.\d{1,6}\.\d{1,6}(?:[-+][0-9A-Za-z.+-]*)?$/, text('A version such as 1.2.3')),
    }),
    output: z.object({
      isSuccess: z.literal(true),
      isSupported: z.boolean(),
      minimumVersion: z.string(),
      user: z.object({ userId: Id, name: z.string(), email: z.string() }),
      client: z.object({ clientId: Id, clientName: z.string(), roleName: z.enum(ROLES) }),
      /** The permissions of the caller; for a token, its own within those of its owner's role. */
      permissions: z.array(z.enum(PERMISSIONS)),
      /** When the token expires; `null` also for a session. */
      expiresAt: z.string().nullable(),
    }),
  }),
};
