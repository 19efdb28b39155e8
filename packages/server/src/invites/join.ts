import { isFull } from '@stagi/contract/plans.ts';
import { text } from '@stagi/contract/text.ts';
import type { ClientRelation } from '@stagi/contract/user.ts';
import { sql } from 'kysely';
import { recordAct } from '../audit/record.ts';
import { announce } from '../bus/bus.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { refused } from '../http/errors.ts';
import type { Visitor } from '../http/visitor.ts';
import { lockMembers } from '../memberships/lockMembers.ts';
import { presentRelation } from '../memberships/relation.ts';
import { requireActiveAccount } from '../people/requireActiveAccount.ts';
import { type Authenticated, loadSession } from '../sessions/authenticate.ts';
import { findOpenInvite, inviteUnusable, workspaceOfInvite } from './find.ts';
import { hashOfInvite } from './hash.ts';
import { seatsOf } from './seats.ts';
import { closeInvitesQuery } from './status.ts';

type Caller = Visitor & Pick<Authenticated, 'credential' | 'session' | 'user'>;

/** Makes the caller a member of the workspace of a join link. */
export async function joinByInvite(ctx: Caller, code: string): Promise<{ entity: ClientRelation; joined: boolean }> {
  const { workspaceId, joined } = await inTransaction(ctx.db, (trx) => joinWorkspace(ctx, trx, hashOfInvite(code)));
  return { entity: await relationOf(ctx, workspaceId), joined };
}

/** Somebody who joins; without a credential while their account is being made. */
type Joining = Pick<Visitor, 'ip' | 'userAgent'> & {
  user: { id: number; name: string };
  credential: Authenticated['credential'] | null;
};

/**
 * Changes of a workspace's members are serialized, so that a link for one person admits one of many who use it at once.
 * Who is a member already keeps their role and does not use up the link.
 */
export async function joinWorkspace(
  who: Joining,
  trx: Db,
  hash: Buffer,
): Promise<{ workspaceId: number; joined: boolean }> {
  const { user } = who;
  const workspaceId = await workspaceOfInvite(trx, hash);
  if (workspaceId === null) throw inviteUnusable();
  if (await lockMembers(trx, workspaceId, user.id)) return { workspaceId, joined: false };
  const invite = await findOpenInvite(trx, hash);
  if (!invite) throw inviteUnusable();
  const seats = await seatsOf(trx, workspaceId);
  if (isFull(seats))
    throw refused(
      text('All seats of this workspace are taken: its plan allows {{limit}}. Ask whoever invited you to make room.'),
      { limit: seats.limit ?? 0 },
    );
  await trx
    .insertInto('membership')
    .values({ workspace_id: workspaceId, user_id: user.id, role: invite.role })
    .execute();
  await requireActiveAccount(trx, user.id);
  await trx.updateTable('invite').set({ used: sql<number>`used + 1` }).where('id', '=', invite.id).execute();
  if (invite.used + 1 === invite.uses) await closeInvitesQuery(trx, 'used up').where('id', '=', invite.id).execute();
  await announce(trx, 'changed', { entity: 'client', id: workspaceId, workspaceId });
  await recordAct(
    trx,
    { ...who, workspace: { id: workspaceId } },
    {
      action: 'client/join',
      outcome: 'done',
      object: { type: 'client/member', id: String(user.id), label: user.name },
      detail: { role: invite.role, invitedBy: invite.inviter },
    },
  );
  return { workspaceId, joined: true };
}

/** The new membership as `user/profile` shows it. */
async function relationOf(ctx: Caller & Context, workspaceId: number): Promise<ClientRelation> {
  const now = await loadSession(ctx, ctx.session.id, ctx.user.id);
  const membership = now?.memberships.find(({ id }) => id === workspaceId);
  // The caller was removed again, or the workspace disabled, meanwhile.
  if (!membership) throw inviteUnusable();
  return presentRelation(ctx, membership);
}
