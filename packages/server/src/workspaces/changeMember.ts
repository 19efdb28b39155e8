import type { Member } from '@stagi/contract/clients.ts';
import type { Role } from '@stagi/contract/permissions.ts';
import { type Authenticated, type Membership, requireStepUp } from '../auth/authenticate.ts';
import { announce } from '../bus/bus.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { forbidden, notFound, refused, workspaceGone } from '../http/errors.ts';
import type { Visitor } from '../http/visitor.ts';
import { lockOutMember } from '../instances/sshAccess.ts';
import { endInvitesBeyond } from '../invites/inviter.ts';
import { removedMail, roleChangedMail } from '../mail/memberLetters.ts';
import { sendMail } from '../mail/send.ts';
import { lockMembers } from './lockMembers.ts';
import { findMember } from './members.ts';
import { covers, type MemberRow, maySeeTo, presentMember } from './present.ts';

interface Caller extends Visitor, Pick<Authenticated, 'session' | 'user'> {
  workspace: Membership;
}

/** Gives a member another role, an owner's only once the caller has shown that it is them; it counts from their next call on, and for their open streams at once. Join links beyond it end. */
export async function changeRole(ctx: Caller, { userId, role }: { userId: number; role: Role }): Promise<Member> {
  return inTransaction(ctx.db, async (trx) => {
    const { member, viewer } = await holdMember(trx, ctx, userId);
    if (!covers(viewer.role, role)) throw forbidden();
    if (role === 'Owner' && member.role !== 'Owner') requireStepUp(ctx);
    if (role !== 'Owner') keepOwner(member);
    await trx
      .updateTable('membership')
      .set({ role })
      .where('workspace_id', '=', ctx.workspace.id)
      .where('user_id', '=', member.user_id)
      .execute();
    await endInvitesBeyond(trx, { workspaceId: ctx.workspace.id, userId: member.user_id, role });
    await announceMembers(trx, ctx.workspace.id);
    if (role !== member.role && member.user_id !== ctx.user.id)
      await sendMail(ctx, trx, member.email, roleChangedMail(ctx, member, { ...whoseDoing(ctx), role }));
    const changed = await findMember(trx, ctx.workspace.id, member.user_id);
    const now = member.user_id === ctx.user.id ? role : viewer.role;
    return presentMember(changed ?? { ...member, role }, { userId: ctx.user.id, role: now });
  });
}

/** Ends a membership, the caller's own too. Tokens and streams end by the database itself (migrations 0008 and 0012). */
export async function removeMember(ctx: Caller, userId: number): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const { member } = await holdMember(trx, ctx, userId);
    keepOwner(member);
    await trx
      .deleteFrom('membership')
      .where('workspace_id', '=', ctx.workspace.id)
      .where('user_id', '=', member.user_id)
      .execute();
    await lockOutMember(trx, { workspaceId: ctx.workspace.id, userId: member.user_id, actorId: ctx.user.id });
    await announceMembers(trx, ctx.workspace.id);
    if (member.user_id !== ctx.user.id)
      await sendMail(ctx, trx, member.email, removedMail(ctx, member, whoseDoing(ctx)));
  });
}

async function holdMember(
  trx: Db,
  { user, workspace }: Caller,
  userId: number,
): Promise<{ member: MemberRow; viewer: { role: Role } }> {
  const viewer = await lockMembers(trx, workspace.id, user.id);
  if (!viewer) throw workspaceGone();
  const member = await findMember(trx, workspace.id, userId);
  if (!member) throw notFound();
  const isOwn = member.user_id === user.id;
  if (!isOwn && !maySeeTo(viewer.role)) throw forbidden();
  if (!covers(viewer.role, member.role)) throw forbidden();
  return { member, viewer };
}

const whoseDoing = ({ user, workspace }: Caller) => ({ workspaceName: workspace.name, by: user.name });

function keepOwner({ is_last_owner }: MemberRow): void {
  if (is_last_owner) throw refused('A workspace needs an owner. Make somebody else its owner first.');
}

function announceMembers(trx: Db, workspaceId: number): Promise<void> {
  return announce(trx, 'changed', { entity: 'client', id: workspaceId, workspaceId });
}
