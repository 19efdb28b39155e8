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

/** The one door out of `pending`, but for those that the database shuts behind who leaves or is disabled. */
export function invitesToEnd(db: Db, endedBy: End) {
  return db
    .updateTable('invite')
    .set({ status: STATUS_OF[endedBy], ended_by: endedBy, ended_at: sql<Date>`now()` })
    .where('status', '=', 'pending');
}

/** One whose time is over has ended, whether or not somebody has come by to write that down. */
export const isExpired = sql<boolean>`(invite.status = 'pending' and invite.expires_at <= now())`;

export const statusNow = sql<InviteStatus>`case when ${isExpired} then 'finished' else invite.status end`;
