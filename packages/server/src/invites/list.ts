import type { INVITE_ENDS, InviteStatus } from '@stagi/contract/invites.ts';
import type { EntityFilterRequest } from '@stagi/contract/page.ts';
import type { Role } from '@stagi/contract/permissions.ts';
import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { contains, offsetOf, sortColumn } from '../http/paging.ts';
import { currentStatus, isExpired } from './status.ts';

export interface InviteRow {
  id: number;
  role: Role;
  uses: number;
  used: number;
  status: InviteStatus;
  ended_by: (typeof INVITE_ENDS)[number] | null;
  created_by: number;
  inviter: string;
  created_at: Date;
  expires_at: Date;
}

const SORTABLE = {
  createdAt: 'invite.created_at',
  expiresAt: 'invite.expires_at',
  roleName: 'invite.role',
  used: 'invite.used',
  inviter: 'app_user.name',
} as const;

export async function listInvites(
  db: Db,
  workspaceId: number,
  request: EntityFilterRequest,
  roles: readonly Role[] | undefined,
): Promise<{ rows: InviteRow[]; count: number }> {
  const { queryString, statuses } = request;
  let some = invitesOf(db, workspaceId);
  if (queryString) some = some.where(contains(['app_user.name', 'app_user.email'], queryString));
  if (roles?.length) some = some.where('invite.role', 'in', roles);
  if (statuses?.length) some = some.where(sql<boolean>`${currentStatus} = any(${statuses}::text[])`);
  const [rows, { count }] = await Promise.all([
    some
      .select(INVITE)
      .orderBy(sortColumn(request, SORTABLE), request.orderByDirection)
      .orderBy('invite.id', request.orderByDirection)
      .limit(request.limit)
      .offset(offsetOf(request))
      .execute(),
    some.select(sql<number>`count(*)::int`.as('count')).executeTakeFirstOrThrow(),
  ]);
  return { rows, count };
}

export function findInvite(db: Db, workspaceId: number, id: number): Promise<InviteRow | undefined> {
  return invitesOf(db, workspaceId).select(INVITE).where(sql<boolean>`invite.id = ${id}::bigint`).executeTakeFirst();
}

function invitesOf(db: Db, workspaceId: number) {
  return db
    .selectFrom('invite')
    .innerJoin('app_user', 'app_user.id', 'invite.created_by')
    .where('invite.workspace_id', '=', workspaceId);
}

const INVITE = [
  'invite.id',
  'invite.role',
  'invite.uses',
  'invite.used',
  'invite.created_by',
  'invite.created_at',
  'invite.expires_at',
  'app_user.name as inviter',
  currentStatus.as('status'),
  sql<InviteRow['ended_by']>`case when ${isExpired} then 'expired' else invite.ended_by end`.as('ended_by'),
] as const;
