import { text } from '@stagi/contract/text.ts';
import { announce } from '../bus/bus.ts';
import type { Db } from '../db/schema.ts';
import { forbidden, notFound, refused, workspaceGone } from '../http/errors.ts';
import { lockMembers } from '../memberships/lockMembers.ts';
import { coversRole, mayManageMembers } from '../memberships/roles.ts';
import { findInvite } from './list.ts';
import { closeInvitesQuery } from './status.ts';

interface Caller {
  db: Db;
  user: { id: number };
  workspace: { id: number };
}

/** Revokes a join link. */
export async function revokeInvite({ db, user, workspace }: Caller, id: number): Promise<void> {
  const viewer = await lockMembers(db, workspace.id, user.id);
  if (!viewer) throw workspaceGone();
  const invite = await findInvite(db, workspace.id, id);
  if (!invite) throw notFound();
  if (!mayManageMembers(viewer.role) || !coversRole(viewer.role, invite.role)) throw forbidden();
  if (invite.status !== 'pending') throw refused(text('This invitation has already ended'));
  await closeInvitesQuery(db, 'revoked').where('id', '=', invite.id).execute();
  await announce(db, 'changed', { entity: 'client', id: workspace.id, workspaceId: workspace.id });
}
