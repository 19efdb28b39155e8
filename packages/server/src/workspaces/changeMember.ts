import type { Member } from '@stagi/contract/clients.ts';
import type { Role } from '@stagi/contract/permissions.ts';
import { type Authenticated, requireStepUp } from '../auth/authenticate.ts';
import { announce } from '../bus/bus.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { forbidden, notFound, refused, workspaceGone } from '../http/errors.ts';
import { lockOutMember } from '../instances/sshAccess.ts';
import { findMember } from './members.ts';
import { covers, type MemberRow, maySeeTo, presentMember } from './present.ts';

interface Caller {
  db: Db;
  session: Authenticated['session'];
  user: { id: number };
  workspace: { id: number };
}

/** Gives a member another role, an owner's only once the caller has shown that it is them; it counts from their next call on, and for their open streams at once. */
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
    await announceMembers(trx, ctx.workspace.id);
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
  });
}

/**
 * Members of a workspace change one after the other. What the caller may is read anew after the wait: they may have
 * lost it to the change before.
 */
async function holdMember(
  trx: Db,
  { user, workspace }: Caller,
  userId: number,
): Promise<{ member: MemberRow; viewer: { role: Role } }> {
  await trx.selectFrom('workspace').select('id').where('id', '=', workspace.id).forNoKeyUpdate().execute();
  const viewer = await findMember(trx, workspace.id, user.id);
  if (!viewer) throw workspaceGone();
  const member = await findMember(trx, workspace.id, userId);
  if (!member) throw notFound();
  const isOwn = member.user_id === user.id;
  if (!isOwn && !maySeeTo(viewer.role)) throw forbidden();
  if (!covers(viewer.role, member.role)) throw forbidden();
  return { member, viewer };
}

function keepOwner({ is_last_owner }: MemberRow): void {
  if (is_last_owner) throw refused('A workspace needs an owner. Make somebody else its owner first.');
}

function announceMembers(trx: Db, workspaceId: number): Promise<void> {
  return announce(trx, 'changed', { entity: 'client', id: workspaceId, workspaceId });
}
