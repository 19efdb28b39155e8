import { randomBytes } from 'node:crypto';
import { INVITE_DAYS, INVITE_DAYS_MAX, type Invite } from '@stagi/contract/invites.ts';
import type { Role } from '@stagi/contract/permissions.ts';
import { isFull } from '@stagi/contract/plans.ts';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import { announce } from '../bus/bus.ts';
import type { Config } from '../config/config.ts';
import type { Db } from '../db/schema.ts';
import { forbidden, invalid, refused, workspaceGone } from '../http/errors.ts';
import { lockMembers } from '../memberships/lockMembers.ts';
import { coversRole, mayManageMembers } from '../memberships/roles.ts';
import { type Authenticated, type Membership, requireStepUp } from '../sessions/authenticate.ts';
import { hashOfInvite } from './hash.ts';
import { findInvite } from './list.ts';
import { presentInvite } from './present.ts';
import { seatsOf } from './seats.ts';
import { isExpired } from './status.ts';

/** Open join links of one workspace. */
const MAX_OPEN_LINKS = 100;

interface Caller {
  config: Pick<Config, 'appOrigin'>;
  db: Db;
  session: Authenticated['session'];
  user: { id: number };
  workspace: Membership;
}

/**
 * Creates a join link for a role whose permissions the caller has; for an owner's only after a step-up. Only a hash of
 * the link is stored.
 */
export async function createInvite(
  ctx: Caller,
  { role, uses, expiresAt }: { role: Role; uses: number; expiresAt?: string | undefined },
): Promise<{ entity: Invite; link: string }> {
  const viewer = await lockMembers(ctx.db, ctx.workspace.id, ctx.user.id);
  if (!viewer) throw workspaceGone();
  if (!mayManageMembers(viewer.role) || !coversRole(viewer.role, role)) throw forbidden();
  if (role === 'Owner') requireStepUp(ctx);
  await requireSeat(ctx.db, ctx.workspace.id);
  await requireQuota(ctx.db, ctx.workspace.id);
  const code = randomBytes(32).toString('base64url');
  const { rows } = await sql<{ id: number; is_late: boolean; is_long: boolean }>`
    insert into invite (workspace_id, created_by, role, hash, uses, expires_at)
    values (${ctx.workspace.id}, ${ctx.user.id}, ${role}, ${hashOfInvite(code)}, ${uses},
      coalesce(${expiresAt ?? null}::timestamptz, now() + make_interval(days => ${INVITE_DAYS})))
    returning id, expires_at <= now() as is_late,
      expires_at > now() + make_interval(days => ${INVITE_DAYS_MAX}, mins => 5) as is_long`.execute(ctx.db);
  const { id, is_late, is_long } = rows[0]!;
  // Throwing rolls the call's transaction back, and the row with it.
  if (is_late) throw invalid(text('The expiration must be in the future'), 'expiresAt');
  if (is_long)
    throw invalid(text('A join link is valid for at most {{days}} days'), 'expiresAt', { days: INVITE_DAYS_MAX });
  const row = await findInvite(ctx.db, ctx.workspace.id, id);
  if (!row) throw new Error(`invite ${id} is not there right after it was made`);
  await announce(ctx.db, 'changed', { entity: 'client', id: ctx.workspace.id, workspaceId: ctx.workspace.id });
  return {
    entity: presentInvite(row, { userId: ctx.user.id, role: viewer.role }),
    link: `${ctx.config.appOrigin}/join-client/${code}`,
  };
}

/** A link to a full workspace would be refused when it is used. */
async function requireSeat(db: Db, workspaceId: number): Promise<void> {
  const seats = await seatsOf(db, workspaceId);
  if (!isFull(seats)) return;
  throw refused(
    text(
      'All seats of this workspace are taken: its plan allows {{limit}}. Remove a member or choose a larger plan first.',
    ),
    { limit: seats.limit ?? 0 },
  );
}

async function requireQuota(db: Db, workspaceId: number): Promise<void> {
  const { count } = await db
    .selectFrom('invite')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('workspace_id', '=', workspaceId)
    .where('status', '=', 'pending')
    .where(sql<boolean>`not ${isExpired}`)
    .executeTakeFirstOrThrow();
  if (count >= MAX_OPEN_LINKS)
    throw refused(text('This workspace has {{limit}} open join links. Revoke one that is no longer needed.'), {
      limit: MAX_OPEN_LINKS,
    });
}
