import { createHash, randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { type Authenticated, type Credential, loadSession, loadToken, type Membership } from './authenticate.ts';

const TICKET_SECONDS = 30;

/** A one-use ticket for one browser stream: browsers cannot put a token into the headers of a stream. */
export async function issueStreamTicket(ctx: Context, by: Credential, workspaceId: number): Promise<string> {
  const ticket = randomBytes(24).toString('base64url');
  await ctx.db
    .insertInto('stream_ticket')
    .values({
      hash: hashOf(ticket),
      session_id: by.kind === 'session' ? by.id : null,
      api_token_id: by.kind === 'token' ? by.id : null,
      workspace_id: workspaceId,
      expires_at: sql<Date>`now() + ${`${TICKET_SECONDS} seconds`}::interval`,
    })
    .execute();
  return ticket;
}

export interface StreamOwner extends Authenticated {
  workspace: Membership;
}

/** Consumes a ticket. `null` when it is unknown, used or expired, or its session, token or membership has ended. */
export async function consumeStreamTicket(ctx: Context, ticket: string): Promise<StreamOwner | null> {
  const row = await ctx.db
    .deleteFrom('stream_ticket')
    .where('hash', '=', hashOf(ticket))
    .returning(['session_id', 'api_token_id', 'workspace_id', sql<boolean>`expires_at > now()`.as('in_time')])
    .executeTakeFirst();
  if (!row?.in_time) return null;
  const found =
    row.session_id !== null
      ? await currentSession(ctx, row.session_id)
      : row.api_token_id !== null && (await loadToken(ctx, row.api_token_id));
  return found ? inWorkspace(found, row.workspace_id) : null;
}

/** The owner of an open stream as of now, or what has ended: the session or token, or the membership. */
export async function currentOwner(
  ctx: Context,
  { credential, workspace }: { credential: Pick<Credential, 'kind' | 'id'>; workspace: { id: number } },
): Promise<StreamOwner | 'signedOut' | 'workspaceGone'> {
  const found =
    typeof credential.id === 'string' ? await currentSession(ctx, credential.id) : await loadToken(ctx, credential.id);
  return found ? (inWorkspace(found, workspace.id) ?? 'workspaceGone') : 'signedOut';
}

async function currentSession(ctx: Context, id: string): Promise<Authenticated | null> {
  const session = await ctx.db.selectFrom('session').select('user_id').where('id', '=', id).executeTakeFirst();
  return session ? await loadSession(ctx, id, session.user_id) : null;
}

function inWorkspace(found: Authenticated, workspaceId: number): StreamOwner | null {
  const workspace = found.memberships.find((membership) => membership.id === workspaceId);
  return workspace ? { ...found, workspace } : null;
}

function hashOf(ticket: string): Buffer {
  return createHash('sha256').update(ticket).digest();
}
