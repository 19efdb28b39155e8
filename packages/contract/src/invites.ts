import { z } from 'zod';
import { call } from './call.ts';
import { Id, ListInput, listOf, oneOf, SuccessResponse } from './page.ts';
import { ROLES } from './permissions.ts';
import { text } from './text.ts';
import { ClientRelation, Plan } from './user.ts';

const Role = z.enum(ROLES);

export const INVITE_STATUSES = ['pending', 'finished', 'canceled'] as const;
export type InviteStatus = (typeof INVITE_STATUSES)[number];

/** The allowed transitions of each status; the database refuses all others. */
export const INVITE_MOVES: Record<InviteStatus, readonly InviteStatus[]> = {
  pending: ['finished', 'canceled'],
  finished: [],
  canceled: [],
};

/** Why a join link no longer works. `inviter`: its creator may no longer invite with this role. */
export const INVITE_ENDS = ['used up', 'expired', 'revoked', 'inviter'] as const;

export const INVITE_DAYS = 7;
export const INVITE_DAYS_MAX = 30;
export const INVITE_USES_MAX = 100;

export const Invite = z.object({
  id: Id,
  roleName: Role,
  status: z.enum(INVITE_STATUSES),
  endedBy: z.enum(INVITE_ENDS).nullable(),
  /** How many people may join with it, and how many have. */
  uses: z.number().int(),
  used: z.number().int(),
  createdAt: z.string(),
  expiresAt: z.string(),
  inviter: z.object({ userId: Id, name: z.string(), isMe: z.boolean() }),
  /** Why the caller may not revoke it. */
  hold: z.enum(['more-power', 'ended']).nullable(),
});
export type Invite = z.infer<typeof Invite>;

export const Seats = z.object({
  plan: Plan,
  used: z.number().int(),
  /** `null`: unlimited. */
  limit: z.number().int().nullable(),
});
export type Seats = z.infer<typeof Seats>;

/** What a join link shows to its visitor. */
export const Invitation = z.object({
  clientId: Id,
  clientName: z.string(),
  roleName: Role,
  invitedBy: z.string(),
  expiresAt: z.string(),
});
export type Invitation = z.infer<typeof Invitation>;

/** Not checked for its form: an unknown code gets the same answer as an expired one. */
const Code = z.string().max(200);

const MEMBERS = ['INVITE_USERS_TO_CLIENT'] as const;

export const invites = {
  create: call({
    path: 'client/invite/create',
    summary:
      'Creates a join link for a role, by default for one person and 7 days. Only this answer contains the link.',
    auth: MEMBERS,
    input: z.object({
      role: Role,
      uses: z
        .number(text('Enter a number'))
        .int(text('Enter a whole number'))
        .min(1, text('At least one person'))
        .max(INVITE_USES_MAX, text('At most 100 people'))
        .default(1),
      expiresAt: z.iso.datetime({ offset: true, error: text('Enter a valid date') }).optional(),
    }),
    output: oneOf(Invite).extend({ link: z.string() }),
  }),
  list: call({
    path: 'client/invite/list',
    summary: 'The join links of the workspace with their status, and the free seats of its plan.',
    auth: MEMBERS,
    input: ListInput.extend({ roles: z.array(Role).max(ROLES.length).optional() }),
    output: listOf(Invite).extend({ seats: Seats }),
  }),
  revoke: call({
    path: 'client/invite/revoke',
    summary: 'Revokes a join link at once. Refused for a role with a permission that the caller lacks.',
    auth: MEMBERS,
    input: z.object({ id: Id }),
    output: SuccessResponse,
  }),
  view: call({
    path: 'client/invite/view',
    summary: 'The workspace and role of a join link. A used-up, revoked, expired or unknown one gets the same refusal.',
    auth: 'public',
    input: z.object({ code: Code }),
    output: z.object({ isSuccess: z.literal(true), invitation: Invitation }),
  }),
  join: call({
    path: 'client/join',
    summary: 'Makes me a member of the workspace of a join link. Changes nothing for a member.',
    auth: 'signed-in',
    input: z.object({ code: Code }),
    output: oneOf(ClientRelation).extend({
      /** Whether this call made me a member. */
      joined: z.boolean(),
    }),
  }),
};
