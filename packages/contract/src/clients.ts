import { z } from 'zod';
import { call } from './call.ts';
import { Done, Id, ListInput, listOf, oneOf } from './page.ts';
import { PERMISSIONS, ROLES } from './permissions.ts';
import { ClientRelation } from './user.ts';

/** What the wire calls client, the screen calls workspace. */
const WorkspaceName = z
  .string('Name is required')
  .trim()
  .min(1, 'Name is required')
  .max(100, 'Name is too long: at most 100 characters');

const Role = z.enum(ROLES);

export const Member = z.object({
  userId: Id,
  name: z.string(),
  email: z.string(),
  image: z.string().nullable(),
  roleName: Role,
  createdAt: z.string(),
  isMe: z.boolean(),
  /** Why whoever asks may not change or end this membership. */
  hold: z.enum(['more-power', 'last-owner']).nullable(),
});
export type Member = z.infer<typeof Member>;

export const WorkspaceRole = z.object({
  roleName: Role,
  permissions: z.array(z.enum(PERMISSIONS)),
  /** Whether whoever asks holds all of it, and so may give it to others. */
  grantable: z.boolean(),
});
export type WorkspaceRole = z.infer<typeof WorkspaceRole>;

const MEMBERS = ['INVITE_USERS_TO_CLIENT'] as const;

export const clients = {
  create: call({
    path: 'client/create',
    summary: 'Makes another workspace, owned by me; at most five besides the first.',
    auth: 'signed-in',
    input: z.object({ name: WorkspaceName }),
    output: oneOf(ClientRelation),
  }),
  edit: call({
    path: 'client/edit',
    summary: 'Renames the workspace.',
    auth: ['CLIENT_MANAGEMENT'],
    input: z.object({ newName: WorkspaceName }),
    output: oneOf(ClientRelation),
  }),
  leave: call({
    path: 'client/leave',
    summary:
      'Ends my own membership, and what I made with it: tokens, streams, keys on its servers. Not for the last owner.',
    auth: 'member',
    input: z.object({}),
    output: Done,
  }),
  roles: call({
    path: 'client/role/list',
    summary: 'The roles there are, what each may do, and which of them I may give.',
    auth: 'member',
    input: z.object({}),
    output: listOf(WorkspaceRole),
  }),
  members: call({
    path: 'client/member/list',
    summary:
      'Who belongs to the workspace, with their roles; at most 10,000 are counted, or 1,000 where many hold a text; isMore tells.',
    auth: MEMBERS,
    input: ListInput.extend({ roles: z.array(Role).max(ROLES.length).optional() }),
    output: listOf(Member),
  }),
  editMember: call({
    path: 'client/member/edit',
    summary: 'Gives a member another role. Nobody gives or takes a role that holds a permission they lack.',
    auth: MEMBERS,
    input: z.object({ userId: Id, role: Role }),
    output: oneOf(Member),
  }),
  removeMember: call({
    path: 'client/member/remove',
    summary: 'Ends a membership at once, with its tokens, its streams and its keys on the servers of the workspace.',
    auth: MEMBERS,
    input: z.object({ userId: Id }),
    output: Done,
  }),
};
