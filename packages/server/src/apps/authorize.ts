import { createHash, randomBytes } from 'node:crypto';
import { api } from '@stagi/contract/api.ts';
import type { HandOff } from '@stagi/contract/handOff.ts';
import { sql } from 'kysely';
import { recordAct } from '../audit/record.ts';
import type { Authenticated, Membership } from '../auth/authenticate.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import { invalid, notFound, refused } from '../http/errors.ts';
import type { Visitor } from '../http/visitor.ts';
import { appLetInMail } from '../mail/letters.ts';
import { sendMail } from '../mail/send.ts';
import { answerLink, isRegisteredRedirect } from './redirects.ts';
import type { RegisteredApp } from './registered.ts';

const CODE_SECONDS = 60;
const LET_IN = api.apps.authorizationCode.path;

interface Caller extends Visitor, Pick<Authenticated, 'credential' | 'session' | 'user'> {
  memberships: readonly Membership[];
  chosenWorkspace: Membership | null;
}

/** The app that asks. Throws where it is unknown or would be answered elsewhere: nobody may be sent there (RFC 6749 4.1.2.1). */
export function askingApp(ctx: Pick<Context, 'config'>, request: HandOff): RegisteredApp {
  const app = ctx.config.apps.get(request.client_id);
  if (!app) throw invalid('This app is not known here', 'client_id');
  if (!isRegisteredRedirect(app.redirectUris, request.redirect_uri))
    throw invalid('This app is not known by the address that it wants to be answered at', 'redirect_uri');
  return app;
}

/** What the app is told by way of the browser; `iss` says who speaks (RFC 9207). */
export function answerOf(ctx: Pick<Context, 'config'>, { redirect_uri, state }: HandOff, said: Record<string, string>) {
  return answerLink(redirect_uri, { ...said, state, iss: ctx.config.appOrigin });
}

/** A code for the app, bound to its request and to the session that lets it in. */
export async function issueCode(ctx: Caller, request: HandOff, workspaceId: number | undefined): Promise<string> {
  const app = askingApp(ctx, request);
  const workspace = app.isFirstParty ? null : workspaceFor(ctx, workspaceId);
  const code = randomBytes(32).toString('base64url');
  await inTransaction(ctx.db, async (trx) => {
    await sendMail(ctx, trx, ctx.user.email, appLetInMail(ctx, ctx.user, app.name));
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
    const detail = { app: app.id, ...(app.permissions && { permissions: app.permissions }) };
    if (workspace) await recordAct(trx, { ...ctx, workspace }, { action: LET_IN, outcome: 'done', detail });
  });
  return code;
}

export const hashOfCode = (code: string): Buffer => createHash('sha256').update(code).digest();

function workspaceFor({ memberships, chosenWorkspace }: Caller, id: number | undefined): Membership {
  const named = memberships.find((membership) => membership.id === id);
  if (id !== undefined && !named) throw notFound();
  const workspace = named ?? chosenWorkspace ?? memberships[0];
  if (!workspace) throw refused('You belong to no workspace that the app could work in');
  return workspace;
}
