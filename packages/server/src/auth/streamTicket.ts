import { createHash, randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { type Authenticated, loadSession, type Membership } from './authenticate.ts';

const TICKET_SECONDS = 30;

/** A one-use ticket for one browser stream: browsers cannot put a token into the headers of a stream. */
export async function issueStreamTicket(ctx: Context, sessionId: string, workspaceId: number): Promise<string> {
  const ticket = randomBytes(24).toString('base64url');
  await ctx.db
    .insertInto('stream_ticket')
    .values({
      hash: hashOf(ticket),
      session_id: sessionId,
      workspace_id: workspaceId,
      expires_at: sql<Date>`now() + ${`${TICKET_SECONDS} seconds`}::interval`,
    })
    .execute();
  return ticket;
}

export interface StreamOwner extends Authenticated {
  workspace: Membership;
}

/** Spends a ticket. `null` when it is unknown, used, late, or its session or membership has ended. */
export async function spendStreamTicket(ctx: Context, ticket: string): Promise<StreamOwner | null> {
  const row = await ctx.db
    .deleteFrom('stream_ticket')
    .where('hash', '=', hashOf(ticket))
    .returning(['session_id', 'workspace_id', sql<boolean>`expires_at > now()`.as('in_time')])
    .executeTakeFirst();
  if (!row?.in_time) return null;
  return streamOwner(ctx, row.session_id, row.workspace_id);
}

/** The owner of an open stream as of now; `null` once the session or membership has ended. */
export async function streamOwner(ctx: Context, sessionId: string, workspaceId: number): Promise<StreamOwner | null> {
  const session = await ctx.db.selectFrom('session').select('user_id').where('id', '=', sessionId).executeTakeFirst();
  const found = session && (await loadSession(ctx, sessionId, session.user_id));
  const workspace = found?.memberships.find((membership) => membership.id === workspaceId);
  return found && workspace ? { ...found, workspace } : null;
}

function hashOf(ticket: string): Buffer {
  return createHash('sha256').update(ticket).digest();
}
