import { everyCall } from '@stagi/contract/api.ts';
import type { Call } from '@stagi/contract/call.ts';
import type { Context } from '../context.ts';
import type { Db } from '../db/schema.ts';

/**
 * Calls that access more than one workspace, each with its reason. Every other call of a member accesses the rows of the
 * chosen workspace only (`db/isolation.ts`); every other call without a workspace fails on rows of one.
 */
const CROSS_WORKSPACE_CALLS: Record<string, string> = {
  'auth/email/register': 'looks whether the join link of a workspace lets the visitor sign up',
  'auth/email/verify-code': 'creates the personal workspace of a new user',
  'auth/email/reset-password': 'resets an unverified account, in all of its workspaces, for the owner of its address',
  'auth/oauth/validate-code': 'creates the personal workspace of a new user who signs in with Google',
  'auth/github-oauth/validate-code': 'creates the personal workspace of a new user who signs in with GitHub',
  'auth/openid/validate-code': 'creates the personal workspace of a new user who signs in with an OpenID provider',
  'client/create': 'creates a workspace',
  'client/invite/view': 'shows the workspace of a join link',
  'sign-up-link/view': 'looks whether the join link of a workspace lets its visitor sign up',
  'client/join': 'makes the user a member of the workspace of a join link',
  'docker-container/port/enter': 'authorizes the user for a container of any of their workspaces, by its host name',
  'user/deletion': 'shows every workspace that the user would leave or close',
  'user/delete': 'leaves or closes every workspace of the user',
  'api-token/list': 'lists the user’s tokens in all of their workspaces',
  'api-token/archive': 'archives the user’s token of any workspace, also one that they have left',
  'authorization/oauth/pkce/get-authorization-code': 'authorizes an app for any of the user’s workspaces',
  'authorization/consent/list': 'names the workspaces that apps are authorized for',
  'authorization/consent/revoke':
    'is recorded in the workspace that the app was authorized for, and ends what it made there',
  'ssh-key/list': 'counts the servers of all workspaces that have the user’s key',
  'ssh-key/delete': 'removes the user’s key from the servers of all workspaces',
};
const OPERATORS_PREFIX = 'admin/';

for (const path of Object.keys(CROSS_WORKSPACE_CALLS))
  if (!everyCall().some((call) => call.path === path))
    throw new Error(`there is no call ${path} to allow across workspaces`);

export const isCrossWorkspace = ({ path }: Call): boolean =>
  path.startsWith(OPERATORS_PREFIX) || path in CROSS_WORKSPACE_CALLS;

/** The database access of a call: all rows, or those of the chosen workspace. */
export function dbForCall(context: Context, call: Call, workspace: { id: number } | null): Db {
  return isCrossWorkspace(call) ? context.db : context.within(workspace?.id ?? null);
}
