import { announce } from '../bus/bus.ts';
import type { Db } from '../db/schema.ts';
import { forbidden, notFound, refused, workspaceGone } from '../http/errors.ts';
import { lockMembers } from '../workspaces/lockMembers.ts';
import { covers, maySeeTo } from '../workspaces/present.ts';
import { findInvite } from './list.ts';
import { invitesToEnd } from './status.ts';

interface Caller {
  db: Db;
  user: { id: number };
  workspace: { id: number };
}

/** Ends a join link at once. */
export async function revokeInvite({ db, user, workspace }: Caller, id: number): Promise<void> {
  const viewer = await lockMembers(db, workspace.id, user.id);
  if (!viewer) throw workspaceGone();
  const invite = await findInvite(db, workspace.id, id);
  if (!invite) throw notFound();
  if (!maySeeTo(viewer.role) || !covers(viewer.role, invite.role)) throw forbidden();
  if (invite.status !== 'pending') throw refused('This invitation has ended already');
  await invitesToEnd(db, 'revoked').where('id', '=', invite.id).execute();
  await announce(db, 'changed', { entity: 'client', id: workspace.id, workspaceId: workspace.id });
}
