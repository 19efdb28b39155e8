import { z } from 'zod';
import { call } from './call.ts';
import { Done, Id, ListInput, listOf, oneOf } from './page.ts';
import { ROLES } from './permissions.ts';
import { ClientRelation, Plan } from './user.ts';

const Role = z.enum(ROLES);

export const INVITE_STATUSES = ['pending', 'finished', 'canceled'] as const;
export type InviteStatus = (typeof INVITE_STATUSES)[number];

/** Which status may follow which: the database refuses every other move. */
export const INVITE_MOVES: Record<InviteStatus, readonly InviteStatus[]> = {
  pending: ['finished', 'canceled'],
  finished: [],
  canceled: [],
};

/** Why a join link no longer works. `inviter`: whoever made it may no longer let anybody in so. */
export const INVITE_ENDS = ['used up', 'expired', 'revoked', 'inviter'] as const;

export const INVITE_DAYS = 7;
export const INVITE_DAYS_MOST = 30;
export const INVITE_USES_MOST = 100;

export const Invite = z.object({
  id: Id,
  roleName: Role,
  status: z.enum(INVITE_STATUSES),
  endedBy: z.enum(INVITE_ENDS).nullable(),
  /** How many may join by it, and how many have. */
  uses: z.number().int(),
  used: z.number().int(),
  createdAt: z.string(),
  expiresAt: z.string(),
  inviter: z.object({ userId: Id, name: z.string(), isMe: z.boolean() }),
  /** Why whoever asks may not revoke it. */
  hold: z.enum(['more-power', 'ended']).nullable(),
});
export type Invite = z.infer<typeof Invite>;

export const Seats = z.object({
  plan: Plan,
  used: z.number().int(),
  /** `null`: as many as one likes. */
  limit: z.number().int().nullable(),
});
export type Seats = z.infer<typeof Seats>;

/** What a join link tells whoever holds it. */
export const Invitation = z.object({
  clientId: Id,
  clientName: z.string(),
  roleName: Role,
  invitedBy: z.string(),
  expiresAt: z.string(),
});
export type Invitation = z.infer<typeof Invitation>;

/** Of any shape: one that is none gets the answer of one that has expired. */
const Code = z.string().max(200);

const MEMBERS = ['INVITE_USERS_TO_CLIENT'] as const;

export const invites = {
  create: call({
    path: 'client/invite/create',
    summary:
      'Makes a join link for a role, by default for one person and 7 days. The link is in this answer and nowhere else.',
    auth: MEMBERS,
    input: z.object({
      role: Role,
      uses: z
        .number('Enter a number')
        .int('Enter a whole number')
        .min(1, 'At least one person')
        .max(INVITE_USES_MOST, 'At most 100 people')
        .default(1),
      expiresAt: z.iso.datetime({ offset: true, error: 'Enter a valid date' }).optional(),
    }),
    output: oneOf(Invite).extend({ link: z.string() }),
  }),
  list: call({
    path: 'client/invite/list',
    summary: 'The join links of the workspace and what became of them, and how many seats its plan leaves.',
    auth: MEMBERS,
    input: ListInput.extend({ roles: z.array(Role).max(ROLES.length).optional() }),
    output: listOf(Invite).extend({ seats: Seats }),
  }),
  revoke: call({
    path: 'client/invite/revoke',
    summary: 'Ends a join link at once. Nobody revokes one for a role that holds a permission they lack.',
    auth: MEMBERS,
    input: z.object({ id: Id }),
    output: Done,
  }),
  view: call({
    path: 'client/invite/view',
    summary: 'What a join link leads to. One that was used up, revoked, has expired or never was: the same refusal.',
    auth: 'public',
    input: z.object({ code: Code }),
    output: z.object({ isSuccess: z.literal(true), invitation: Invitation }),
  }),
  join: call({
    path: 'client/join',
    summary: 'Makes me a member of the workspace of a join link. For who is one already nothing changes.',
    auth: 'signed-in',
    input: z.object({ code: Code }),
    output: oneOf(ClientRelation).extend({
      /** Whether I have become a member by this call. */
      joined: z.boolean(),
    }),
  }),
};
