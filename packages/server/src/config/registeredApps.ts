import { createHash, timingSafeEqual } from 'node:crypto';
import type { App } from '@stagi/contract/apps.ts';
import { AUTHORIZATION_REQUEST_RULES } from '@stagi/contract/authorizationRequest.ts';
import { BRAND } from '@stagi/contract/brand.ts';
import { type Permission, TOKEN_PERMISSIONS } from '@stagi/contract/permissions.ts';
import { z } from 'zod';
import { redirectProblem } from './appRedirects.ts';
import { ConfigError } from './configError.ts';

/** An OAuth client that users may authorize. */
export interface RegisteredApp extends App {
  redirectUris: readonly string[];
  /** The hash of the client secret; `null` for a public client (RFC 6749 2.1), which uses PKCE only. */
  secretSha256: string | null;
}

export const CLI_APP = 'stagi-cli';

/** RFC 8252 7.3: it listens on any free port. */
const CLI: RegisteredApp = {
  id: CLI_APP,
  name: `${BRAND} CLI`,
  isFirstParty: true,
  permissions: null,
  redirectUris: ['http://127.0.0.1/callback', 'http://[::1]/callback'],
  secretSha256: null,
};

const Redirect = z
  .string()
  .regex(AUTHORIZATION_REQUEST_RULES.redirect_uri, 'must be at most 500 characters without spaces')
  .superRefine((uri, ctx) => {
    const problem = redirectProblem(uri);
    if (problem) ctx.addIssue({ code: 'custom', message: problem });
  });
const Entry = z.strictObject({
  clientId: z
    .string()
    .regex(AUTHORIZATION_REQUEST_RULES.client_id)
    .refine((id) => id !== CLI_APP, `${CLI_APP} is the platform's own`),
  name: z.string().trim().min(1).max(60),
  redirectUris: z.array(Redirect).min(1).max(20),
  permissions: z.array(z.enum(TOKEN_PERMISSIONS)).min(1).optional(),
  firstParty: z.boolean().default(false),
  secretSha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hex')
    .optional(),
});

/** The platform's own command line and what `OAUTH_APPS` names. Throws `ConfigError`. */
export function readApps(text: string | undefined): ReadonlyMap<string, RegisteredApp> {
  const apps = new Map([[CLI.id, CLI]]);
  for (const { clientId, name, redirectUris, permissions, firstParty, secretSha256 } of entries(text)) {
    if (apps.has(clientId)) throw new ConfigError('OAUTH_APPS', `names "${clientId}" twice`);
    if (!firstParty && !permissions)
      throw new ConfigError('OAUTH_APPS', `must say the permissions of "${clientId}", as it is no app of your own`);
    apps.set(clientId, {
      id: clientId,
      name,
      isFirstParty: firstParty,
      permissions: permissions ?? null,
      redirectUris,
      secretSha256: secretSha256 ?? null,
    });
  }
  return apps;
}

/** An app's permissions: those that its user has now, limited to those consented to, registered, and allowed to API tokens. */
export function permissionsOfApp(
  app: RegisteredApp,
  granted: readonly Permission[] | null,
  held: readonly Permission[],
): readonly Permission[] {
  return held.filter(
    (permission) =>
      TOKEN_PERMISSIONS.includes(permission) &&
      (granted === null || granted.includes(permission)) &&
      (app.permissions === null || app.permissions.includes(permission)),
  );
}

/** Client authentication: whether the secret is the app's. A public client must send none. */
export function verifyClientSecret(app: RegisteredApp, secret: string | null): boolean {
  if (app.secretSha256 === null) return !secret;
  const shown = createHash('sha256')
    .update(secret ?? '')
    .digest();
  return timingSafeEqual(shown, Buffer.from(app.secretSha256, 'hex'));
}

function entries(text: string | undefined): z.output<typeof Entry>[] {
  if (!text) return [];
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new ConfigError('OAUTH_APPS', `must be a JSON list (${(cause as Error).message})`);
  }
  const read = z.array(Entry).safeParse(json);
  if (!read.success) throw new ConfigError('OAUTH_APPS', `cannot be used: ${z.prettifyError(read.error)}`);
  return read.data;
}
