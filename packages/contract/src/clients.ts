import { z } from 'zod';
import { call } from './call.ts';
import { Name } from './fields.ts';
import { EditVersion, Id, ListInput, listOf, oneOf, SuccessResponse } from './page.ts';
import { PERMISSIONS, ROLES } from './permissions.ts';
import { ClientRelation } from './user.ts';

const Role = z.enum(ROLES);

export const Member = z.object({
  userId: Id,
  name: z.string(),
  email: z.string(),
  image: z.string().nullable(),
  roleName: Role,
  createdAt: z.string(),
  isMe: z.boolean(),
  /** Why the caller may not change or end this membership. */
  hold: z.enum(['more-power', 'last-owner']).nullable(),
  /** Access keys and share links to storages of the workspace that they or their tokens made and that work now. */
  keysAndLinks: z.number().int(),
  /** Changes with each edit: see `EditVersion`. */
  version: z.string().optional(),
});
export type Member = z.infer<typeof Member>;

export const WorkspaceRole = z.object({
  roleName: Role,
  permissions: z.array(z.enum(PERMISSIONS)),
  /** Whether the caller has all of these permissions and so may grant the role. */
  grantable: z.boolean(),
});
export type WorkspaceRole = z.infer<typeof WorkspaceRole>;

const MEMBERS = ['INVITE_USERS_TO_CLIENT'] as const;

export const clients = {
  create: call({
    path: 'client/create',
    summary: 'Creates another workspace, owned by me; at most five besides the first.',
    auth: 'signed-in',
    input: z.object({ name: Name }),
    output: oneOf(ClientRelation),
  }),
  edit: call({
    path: 'client/edit',
    summary: 'Renames the workspace.',
    auth: ['CLIENT_MANAGEMENT'],
    input: z.object({ newName: Name, version: EditVersion.optional() }),
    output: oneOf(ClientRelation),
  }),
  leave: call({
    path: 'client/leave',
    summary: 'Ends my membership with its tokens, streams and keys on servers. Refused for the last owner.',
    auth: 'member',
    input: z.object({}),
    output: SuccessResponse,
  }),
  roles: call({
    path: 'client/role/list',
    summary: 'The roles with their permissions, and which of them I may grant.',
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
    summary: 'Changes the role of a member. Refused for a role with a permission that the caller lacks.',
    auth: MEMBERS,
    input: z.object({ userId: Id, role: Role, version: EditVersion.optional() }),
    output: oneOf(Member),
  }),
  removeMember: call({
    path: 'client/member/remove',
    summary:
      'Ends a membership at once, with its tokens, its streams, its keys on the servers of the workspace, and, without keepKeys, the access keys and share links to storages that it made.',
    auth: MEMBERS,
    input: z.object({ userId: Id, keepKeys: z.boolean().optional() }),
    output: SuccessResponse,
  }),
};
