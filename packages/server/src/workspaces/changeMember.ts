import type { Member } from '@stagi/contract/clients.ts';
import type { Role } from '@stagi/contract/permissions.ts';
import { text } from '@stagi/contract/text.ts';
import { announce } from '../bus/bus.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { requireVersion } from '../http/editVersion.ts';
import { forbidden, notFound, refused, workspaceGone } from '../http/errors.ts';
import type { Visitor } from '../http/visitor.ts';
import { removedMail, roleChangedMail } from '../mail/memberMails.ts';
import { sendMail } from '../mail/send.ts';
import { lockMembers } from '../memberships/lockMembers.ts';
import { coversRole, mayManageMembers } from '../memberships/roles.ts';
import { keepS3Keys } from '../objects/keys.ts';
import { endRights } from '../rights/endRights.ts';
import { type Authenticated, type Membership, requireStepUp } from '../sessions/authenticate.ts';
import { findMember } from './members.ts';
import { type MemberRow, memberVersion, presentMember } from './present.ts';

interface Caller extends Visitor, Pick<Authenticated, 'session' | 'user'> {
  workspace: Membership;
}

/**
 * Changes a member's role; making somebody an owner requires a step-up. It applies to their next call and their open
 * streams at once, and ends what they made with rights that they lose.
 */
export async function changeRole(
  ctx: Caller,
  { userId, role, version }: { userId: number; role: Role; version?: string | undefined },
): Promise<Member> {
  return inTransaction(ctx.db, async (trx) => {
    const { member, viewer } = await lockForChange(trx, ctx, userId);
    requireVersion(version, memberVersion(member));
    if (!coversRole(viewer.role, role)) throw forbidden();
    if (role === 'Owner' && member.role !== 'Owner') requireStepUp(ctx);
    if (role !== 'Owner') refuseLastOwner(member);
    const who = { workspaceId: ctx.workspace.id, userId: member.user_id, actorId: ctx.user.id };
    await trx
      .updateTable('membership')
      .set({ role })
      .where('workspace_id', '=', ctx.workspace.id)
      .where('user_id', '=', member.user_id)
      .execute();
    await endRights(trx, { ...who, role });
    await announceMembers(trx, ctx.workspace.id);
    if (role !== member.role && member.user_id !== ctx.user.id)
      await sendMail(ctx, trx, member.email, roleChangedMail(ctx, member, { ...changedBy(ctx), role }));
    const changed = await findMember(trx, ctx.workspace.id, member.user_id);
    const now = member.user_id === ctx.user.id ? role : viewer.role;
    return presentMember(changed ?? { ...member, role }, { userId: ctx.user.id, role: now });
  });
}

/**
 * Removes a member, or lets the caller leave. Triggers revoke their tokens and streams (migrations 0008 and 0012).
 * `keepKeys`: access keys and share links that they made go on, even beyond their account.
 */
export async function removeMember(
  ctx: Caller,
  { userId, keepKeys = false }: { userId: number; keepKeys?: boolean | undefined },
): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const { member } = await lockForChange(trx, ctx, userId);
    refuseLastOwner(member);
    const who = { workspaceId: ctx.workspace.id, userId: member.user_id, actorId: ctx.user.id };
    // While they still work: one that has ended is not kept.
    if (keepKeys) await keepS3Keys(trx, { workspaceId: ctx.workspace.id, madeBy: member.user_id });
    await trx
      .deleteFrom('membership')
      .where('workspace_id', '=', ctx.workspace.id)
      .where('user_id', '=', member.user_id)
      .execute();
    await endRights(trx, { ...who, role: null, keptKeys: keepKeys });
    await announceMembers(trx, ctx.workspace.id);
    if (member.user_id !== ctx.user.id)
      await sendMail(ctx, trx, member.email, removedMail(ctx, member, changedBy(ctx)));
  });
}

async function lockForChange(
  trx: Db,
  { user, workspace }: Caller,
  userId: number,
): Promise<{ member: MemberRow; viewer: { role: Role } }> {
  const viewer = await lockMembers(trx, workspace.id, user.id);
  if (!viewer) throw workspaceGone();
  const member = await findMember(trx, workspace.id, userId);
  if (!member) throw notFound();
  const isOwn = member.user_id === user.id;
  if (!isOwn && !mayManageMembers(viewer.role)) throw forbidden();
  if (!coversRole(viewer.role, member.role)) throw forbidden();
  return { member, viewer };
}

const changedBy = ({ user, workspace }: Caller) => ({ workspaceName: workspace.name, by: user.name });

function refuseLastOwner({ is_last_owner }: MemberRow): void {
  if (is_last_owner) throw refused(text('A workspace needs an owner. Make somebody else its owner first.'));
}

function announceMembers(trx: Db, workspaceId: number): Promise<void> {
  return announce(trx, 'changed', { entity: 'client', id: workspaceId, workspaceId });
}
