import type { INVITE_ENDS, InviteStatus } from '@stagi/contract/invites.ts';
import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';

type End = (typeof INVITE_ENDS)[number];

const STATUS_OF: Record<End, Exclude<InviteStatus, 'pending'>> = {
  'used up': 'finished',
  expired: 'finished',
  revoked: 'canceled',
  inviter: 'canceled',
};

/** An update that closes pending invites; the caller says which. A trigger closes those of a creator who leaves or is disabled. */
export function closeInvitesQuery(db: Db, endedBy: End) {
  return db
    .updateTable('invite')
    .set({ status: STATUS_OF[endedBy], ended_by: endedBy, ended_at: sql<Date>`now()` })
    .where('status', '=', 'pending');
}

/** An invite expires by its time; the cleanup stores the status later. */
export const isExpired = sql<boolean>`(invite.status = 'pending' and invite.expires_at <= now())`;

/** The status as of now: an expired invite is finished. */
export const currentStatus = sql<InviteStatus>`case when ${isExpired} then 'finished' else invite.status end`;
