import { holdsAny, type Permission, ROLE_PERMISSIONS, type Role } from '@stagi/contract/permissions.ts';
import type { WorkspacePlan } from '@stagi/contract/planLimits.ts';
import { projectCan } from '@stagi/contract/projectRules.ts';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { createRepository, repositoryDir } from '../git/repository.ts';
import { notFound } from '../http/errors.ts';
import { parseApiToken } from '../secrets/apiTokenFormat.ts';
import { authenticate } from '../sessions/authenticate.ts';
import { planRoomBytes } from '../storages/quota.ts';
import { type ProjectView, viewProject } from './find.ts';
import { actionable } from './present.ts';

/** Who runs a git command: the password of a request by HTTP, or the people whose account holds the key of a connection by SSH. */
export type GitCaller = { kind: 'token'; token: string; ip: string } | { kind: 'people'; userIds: readonly number[] };

export interface GitProject {
  id: number;
  workspaceId: number;
  slug: string;
  /** The name of its repository, and its folder. */
  repository: string;
  dir: string;
  defaultBranch: string;
  allowForcedPush: boolean;
  /** For whom it is done. Of several people with one key, the first who may. */
  userId: number;
  /** What the plan leaves for repositories and storages; null: unlimited. Zero or more. */
  roomBytes: number | null;
}

export type GitAccess =
  | { outcome: 'allowed'; project: GitProject }
  /** The token is not valid now, or is none. */
  | { outcome: 'unauthenticated' }
  /** Absent, in another workspace, or not permitted: the caller learns no difference. */
  | { outcome: 'not-found' }
  /** It may be read by this caller, and does not allow this now: the message is for people. */
  | { outcome: 'refused'; message: string };

const READ: readonly Permission[] = ['PROJECT', 'PROJECT_MANAGEMENT'];
const PUSH: readonly Permission[] = ['PROJECT_MANAGEMENT'];

/** Whether a git command is allowed, by what is true now. Ask it again during long transfers. */
export async function findProjectForGit(
  ctx: Context,
  { clientId, slug, who, wants }: { clientId: number; slug: string; who: GitCaller; wants: 'read' | 'push' },
): Promise<GitAccess> {
  const members = await membersOf(ctx, clientId, who);
  if (members === 'unauthenticated') return { outcome: 'unauthenticated' };
  const readers = members.filter(({ permissions }) => holdsAny(permissions, READ));
  const project = await openProject(ctx, clientId, slug);
  if (readers.length === 0 || !project || !projectCan.read(actionable(project)).allowed)
    return { outcome: 'not-found' };
  let caller = readers[0]!;
  if (wants === 'push') {
    const pusher = readers.find(({ permissions }) => holdsAny(permissions, PUSH));
    if (!pusher) return { outcome: 'refused', message: text('You may read this project, but not push to it') };
    const verdict = projectCan.push(actionable(project));
    if (!verdict.allowed) return { outcome: 'refused', message: verdict.reason };
    caller = pusher;
  }
  const roomBytes = wants === 'push' ? await planRoomBytes(ctx.db, { id: clientId, ...caller.plan }) : null;
  if (roomBytes === 0) return { outcome: 'refused', message: PLAN_FULL };
  const dir = await repositoryPath(ctx, project.id);
  if (wants === 'push') await watchPush(ctx, project.id);
  return {
    outcome: 'allowed',
    project: {
      id: project.id,
      workspaceId: project.workspace_id,
      slug: project.slug,
      repository: project.repository,
      dir,
      defaultBranch: project.default_branch,
      allowForcedPush: project.allow_forced_push,
      userId: caller.userId,
      roomBytes,
    },
  };
}

/** Why a push or an import is refused that the plan has no room for. */
export const PLAN_FULL = text('Your plan has no room left for this: delete something, or choose a larger plan');

interface CallingMember {
  userId: number;
  plan: WorkspacePlan;
  permissions: readonly Permission[];
}

/** The callers who are members of the workspace now; it and their accounts are enabled. */
async function membersOf(ctx: Context, clientId: number, who: GitCaller): Promise<CallingMember[] | 'unauthenticated'> {
  if (who.kind === 'token') {
    // An access token of a session is no password of git.
    const caller = parseApiToken(who.token) ? await authenticate(ctx, `Bearer ${who.token}`, who.ip) : null;
    if (!caller) return 'unauthenticated';
    return caller.memberships
      .filter(({ id }) => id === clientId)
      .map(({ plan, quotas, permissions }) => ({ userId: caller.user.id, plan: { plan, quotas }, permissions }));
  }
  if (who.userIds.length === 0) return [];
  const rows = await ctx.db
    .selectFrom('membership')
    .innerJoin('app_user', 'app_user.id', 'membership.user_id')
    .innerJoin('workspace', 'workspace.id', 'membership.workspace_id')
    .select(['membership.user_id', 'membership.role', 'workspace.plan', 'workspace.quotas'])
    .where('membership.user_id', 'in', [...who.userIds])
    .where('membership.workspace_id', '=', clientId)
    .where('app_user.disabled_at', 'is', null)
    .where('workspace.disabled_at', 'is', null)
    .orderBy('membership.user_id')
    .execute();
  return rows.map(({ user_id, role, plan, quotas }) => ({
    userId: user_id,
    plan: { plan, quotas },
    permissions: ROLE_PERMISSIONS[role as Role],
  }));
}

async function openProject(ctx: Context, clientId: number, slug: string): Promise<ProjectView | null> {
  const row = await ctx.db
    .selectFrom('project')
    .select('id')
    .where('workspace_id', '=', clientId)
    .where('slug', '=', slug)
    .where('closed_at', 'is', null)
    .executeTakeFirst();
  return row ? viewProject(ctx.db, clientId, { id: row.id }) : null;
}

/** Has the worker look what the repository holds, in case this push lands and its record is lost with the process. */
async function watchPush(ctx: Pick<Context, 'db'>, projectId: number): Promise<void> {
  await sql`update project set push_begun_at = clock_timestamp(),
      next_at = least(next_at, clock_timestamp() + interval '5 minutes')
    where id = ${projectId} and (push_begun_at is null or push_begun_at < now() - interval '1 minute')`.execute(ctx.db);
}

/** The folder of the repository of a project that is not being deleted. Made now if the worker has not made it yet. */
export async function repositoryPath(ctx: Pick<Context, 'db' | 'config'>, projectId: number): Promise<string> {
  const row = await ctx.db
    .selectFrom('project')
    .select(['repository', 'desired', 'status'])
    .where('id', '=', projectId)
    .executeTakeFirst();
  if (!row || row.desired === 'gone') throw notFound();
  if (row.status === 'creating') await createRepository(ctx.config, row.repository);
  return repositoryDir(ctx.config, row.repository);
}
