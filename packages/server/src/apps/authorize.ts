import { createHash, randomBytes } from 'node:crypto';
import { api } from '@stagi/contract/api.ts';
import type { AuthorizationRequest } from '@stagi/contract/authorizationRequest.ts';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import { recordAct } from '../audit/record.ts';
import { authorizationResponseUrl, isRegisteredRedirect } from '../config/appRedirects.ts';
import type { RegisteredApp } from '../config/registeredApps.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import { invalid, notFound, refused } from '../http/errors.ts';
import type { Visitor } from '../http/visitor.ts';
import { appAuthorizedMail } from '../mail/accountMails.ts';
import { sendMail } from '../mail/send.ts';
import type { Authenticated, Membership } from '../sessions/authenticate.ts';

const CODE_SECONDS = 60;
const AUTHORIZE = api.apps.authorizationCode.path;

interface Caller extends Visitor, Pick<Authenticated, 'credential' | 'session' | 'user'> {
  memberships: readonly Membership[];
  chosenWorkspace: Membership | null;
}

/** The app of an authorization request. Throws for an unknown app or redirect URI: no redirect may happen (RFC 6749 4.1.2.1). */
export function requestingApp(ctx: Pick<Context, 'config'>, request: AuthorizationRequest): RegisteredApp {
  const app = ctx.config.apps.get(request.client_id);
  if (!app) throw invalid(text('This app is not known here'), 'client_id');
  if (!isRegisteredRedirect(app.redirectUris, request.redirect_uri))
    throw invalid(text('This redirect address is not registered for the app'), 'redirect_uri');
  return app;
}

/** The authorization response: the redirect URI with the given parameters, `state` and `iss` (RFC 9207). */
export function authorizationResponse(
  ctx: Pick<Context, 'config'>,
  { redirect_uri, state }: AuthorizationRequest,
  said: Record<string, string>,
) {
  return authorizationResponseUrl(redirect_uri, { ...said, state, iss: ctx.config.appOrigin });
}

/** Issues an authorization code, bound to the app's request and to the session of the user who consents. */
export async function issueAuthorizationCode(
  ctx: Caller,
  request: AuthorizationRequest,
  workspaceId: number | undefined,
): Promise<string> {
  const app = requestingApp(ctx, request);
  const workspace = app.isFirstParty ? null : workspaceFor(ctx, workspaceId);
  const code = randomBytes(32).toString('base64url');
  await inTransaction(ctx.db, async (trx) => {
    await sendMail(ctx, trx, ctx.user.email, appAuthorizedMail(ctx, ctx.user, app.name));
    await trx
      .insertInto('oauth_code')
      .values({
        hash: hashOfCode(code),
        app_id: app.id,
        allowed_by: ctx.session.id,
        redirect_uri: request.redirect_uri,
        code_challenge: request.code_challenge,
        permissions: app.permissions ? [...app.permissions] : null,
        workspace_id: workspace?.id ?? null,
        expires_at: sql<Date>`now() + ${`${CODE_SECONDS} seconds`}::interval`,
      })
      .execute();
    const detail = { app: app.id, names: { app: app.name }, ...(app.permissions && { permissions: app.permissions }) };
    if (workspace) await recordAct(trx, { ...ctx, workspace }, { action: AUTHORIZE, outcome: 'done', detail });
  });
  return code;
}

export const hashOfCode = (code: string): Buffer => createHash('sha256').update(code).digest();

function workspaceFor({ memberships, chosenWorkspace }: Caller, id: number | undefined): Membership {
  const named = memberships.find((membership) => membership.id === id);
  if (id !== undefined && !named) throw notFound();
  const workspace = named ?? chosenWorkspace ?? memberships[0];
  if (!workspace) throw refused(text('You have no workspace that the app can use'));
  return workspace;
}
