import { isFull } from '@stagi/contract/plans.ts';
import type { ClientRelation } from '@stagi/contract/user.ts';
import { sql } from 'kysely';
import { recordAct } from '../audit/record.ts';
import { type Authenticated, loadSession } from '../auth/authenticate.ts';
import { announce } from '../bus/bus.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import { refused } from '../http/errors.ts';
import type { Visitor } from '../http/visitor.ts';
import { requireAccount } from '../users/requireAccount.ts';
import { lockMembers } from '../workspaces/lockMembers.ts';
import { presentRelation } from '../workspaces/present.ts';
import { findOpenInvite, inviteIsOver, workspaceOfInvite } from './find.ts';
import { seatsOf } from './seats.ts';
import { invitesToEnd } from './status.ts';

type Caller = Visitor & Pick<Authenticated, 'credential' | 'session' | 'user'>;

/**
 * Makes the caller a member. Members of a workspace change one after the other: of twenty who come at once by a link
 * for one, nineteen find it used. Whoever is a member already stays what they are, and spends nothing.
 */
export async function joinByInvite(ctx: Caller, code: string): Promise<{ entity: ClientRelation; joined: boolean }> {
  const { workspaceId, joined } = await inTransaction(ctx.db, async (trx) => {
    const workspaceId = await workspaceOfInvite(trx, code);
    if (workspaceId === null) throw inviteIsOver();
    if (await lockMembers(trx, workspaceId, ctx.user.id)) return { workspaceId, joined: false };
    const invite = await findOpenInvite(trx, code);
    if (!invite) throw inviteIsOver();
    const seats = await seatsOf(trx, workspaceId);
    if (isFull(seats))
      throw refused(
        'All seats of this workspace are taken: its plan allows {{limit}}. Ask whoever invited you to make room.',
        { limit: seats.limit ?? 0 },
      );
    await trx
      .insertInto('membership')
      .values({ workspace_id: workspaceId, user_id: ctx.user.id, role: invite.role })
      .execute();
    await requireAccount(trx, ctx.user.id);
    await trx.updateTable('invite').set({ used: sql<number>`used + 1` }).where('id', '=', invite.id).execute();
    if (invite.used + 1 === invite.uses) await invitesToEnd(trx, 'used up').where('id', '=', invite.id).execute();
    await announce(trx, 'changed', { entity: 'client', id: workspaceId, workspaceId });
    await recordAct(
      trx,
      { ...ctx, workspace: { id: workspaceId } },
      {
        action: 'client/join',
        outcome: 'done',
        object: { type: 'client/member', id: String(ctx.user.id), label: ctx.user.name },
        detail: { role: invite.role, invitedBy: invite.inviter },
      },
    );
    return { workspaceId, joined: true };
  });
  return { entity: await relationOf(ctx, workspaceId), joined };
}

/** As `user/profile` shows it from now on. */
async function relationOf(ctx: Caller & Context, workspaceId: number): Promise<ClientRelation> {
  const now = await loadSession(ctx, ctx.session.id, ctx.user.id);
  const membership = now?.memberships.find(({ id }) => id === workspaceId);
  // Removed, or the workspace closed, within the same moment.
  if (!membership) throw inviteIsOver();
  return presentRelation(membership);
}
