import { createHash, randomBytes } from 'node:crypto';
import { INVITE_DAYS, INVITE_DAYS_MOST, type Invite } from '@stagi/contract/invites.ts';
import type { Role } from '@stagi/contract/permissions.ts';
import { isFull } from '@stagi/contract/plans.ts';
import { sql } from 'kysely';
import { type Authenticated, type Membership, requireStepUp } from '../auth/authenticate.ts';
import { announce } from '../bus/bus.ts';
import type { Config } from '../config.ts';
import type { Db } from '../db/schema.ts';
import { forbidden, invalid, refused, workspaceGone } from '../http/errors.ts';
import { lockMembers } from '../workspaces/lockMembers.ts';
import { covers, maySeeTo } from '../workspaces/present.ts';
import { findInvite } from './list.ts';
import { presentInvite } from './present.ts';
import { seatsOf } from './seats.ts';
import { isExpired } from './status.ts';

/** Of one workspace at a time. */
const OPEN_MOST = 100;

interface Caller {
  config: Pick<Config, 'appOrigin'>;
  db: Db;
  session: Authenticated['session'];
  user: { id: number };
  workspace: Membership;
}

/** A join link for a role that its maker covers; an owner's only once they have shown that it is them. The link is kept nowhere. */
export async function createInvite(
  ctx: Caller,
  { role, uses, expiresAt }: { role: Role; uses: number; expiresAt?: string | undefined },
): Promise<{ entity: Invite; link: string }> {
  const viewer = await lockMembers(ctx.db, ctx.workspace.id, ctx.user.id);
  if (!viewer) throw workspaceGone();
  if (!maySeeTo(viewer.role) || !covers(viewer.role, role)) throw forbidden();
  if (role === 'Owner') requireStepUp(ctx);
  await requireSeat(ctx.db, ctx.workspace.id);
  await refuseTooMany(ctx.db, ctx.workspace.id);
  const code = randomBytes(32).toString('base64url');
  const { rows } = await sql<{ id: number; is_late: boolean; is_long: boolean }>`
    insert into invite (workspace_id, created_by, role, hash, uses, expires_at)
    values (${ctx.workspace.id}, ${ctx.user.id}, ${role}, ${hashOfInvite(code)}, ${uses},
      coalesce(${expiresAt ?? null}::timestamptz, now() + make_interval(days => ${INVITE_DAYS})))
    returning id, expires_at <= now() as is_late,
      expires_at > now() + make_interval(days => ${INVITE_DAYS_MOST}, mins => 5) as is_long`.execute(ctx.db);
  const { id, is_late, is_long } = rows[0]!;
  // Thrown inside the transaction of the call, which takes the row back.
  if (is_late) throw invalid('The expiration must be in the future', 'expiresAt');
  if (is_long) throw invalid('A join link is good for at most {{days}} days', 'expiresAt', { days: INVITE_DAYS_MOST });
  const row = await findInvite(ctx.db, ctx.workspace.id, id);
  if (!row) throw new Error(`invite ${id} is not there right after it was made`);
  await announce(ctx.db, 'changed', { entity: 'client', id: ctx.workspace.id, workspaceId: ctx.workspace.id });
  return {
    entity: presentInvite(row, { userId: ctx.user.id, role: viewer.role }),
    link: `${ctx.config.appOrigin}/join-client/${code}`,
  };
}

export const hashOfInvite = (code: string): Buffer => createHash('sha256').update(code).digest();

/** Nobody is invited where they would be turned away. */
async function requireSeat(db: Db, workspaceId: number): Promise<void> {
  const seats = await seatsOf(db, workspaceId);
  if (!isFull(seats)) return;
  throw refused(
    'All seats of this workspace are taken: its plan allows {{limit}}. Remove a member or choose a larger plan first.',
    { limit: seats.limit ?? 0 },
  );
}

async function refuseTooMany(db: Db, workspaceId: number): Promise<void> {
  const { count } = await db
    .selectFrom('invite')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('workspace_id', '=', workspaceId)
    .where('status', '=', 'pending')
    .where(sql<boolean>`not ${isExpired}`)
    .executeTakeFirstOrThrow();
  if (count >= OPEN_MOST)
    throw refused('This workspace has {{limit}} open join links. Revoke one that is no longer needed.', {
      limit: OPEN_MOST,
    });
}
