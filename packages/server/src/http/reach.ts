import { everyCall } from '@stagi/contract/api.ts';
import type { Call } from '@stagi/contract/call.ts';
import type { Context } from '../context.ts';
import type { Db } from '../db/schema.ts';

/**
 * Calls that look beyond one workspace, each with its reason. Every other call of a member reaches the rows of the
 * chosen workspace and no others (`db/isolation.ts`); every other call without a workspace fails where it meets one.
 */
const BEYOND_ONE_WORKSPACE: Record<string, string> = {
  'auth/email/verify-code': 'makes the personal workspace of whoever signs up',
  'auth/email/reset-password': 'takes what a stranger made with an address off all workspaces once its owner has come',
  'auth/oauth/validate-code': 'makes the personal workspace of whoever comes by Google for the first time',
  'auth/github-oauth/validate-code': 'makes the personal workspace of whoever comes by GitHub for the first time',
  'client/create': 'makes a workspace',
  'client/invite/view': 'shows whoever holds a join link where it leads',
  'client/join': 'makes a person a member of the workspace that a join link leads to',
  'docker-container/port/enter':
    'lets a person into a container of any of their workspaces, which its host’s name says',
  'user/deletion': 'shows every workspace that a person would leave or close',
  'user/delete': 'leaves or closes every workspace of a person',
  'api-token/list': 'a person’s tokens in all of their workspaces',
  'api-token/archive': 'a person’s token of any of their workspaces, which may be one that they have left',
  'authorization/oauth/pkce/get-authorization-code': 'lets an app into any of a person’s workspaces',
  'authorization/consent/list': 'names the workspaces that apps were let into',
  'authorization/consent/revoke': 'is written down in the workspace that the app was let into',
  'ssh-key/list': 'counts the servers of all workspaces that a person’s key lets in',
  'ssh-key/delete': 'takes a person’s key off the servers of all workspaces',
};
const OF_OPERATORS = 'admin/';

for (const path of Object.keys(BEYOND_ONE_WORKSPACE))
  if (!everyCall().some((call) => call.path === path)) throw new Error(`there is no call ${path} to look beyond`);

export const looksBeyond = ({ path }: Call): boolean => path.startsWith(OF_OPERATORS) || path in BEYOND_ONE_WORKSPACE;

/** What a call reads and writes through. */
export function reach(context: Context, call: Call, workspace: { id: number } | null): Db {
  return looksBeyond(call) ? context.db : context.within(workspace?.id ?? null);
}
