import type { CommitLine } from '@stagi/contract/projectCode.ts';
import { projectCan } from '@stagi/contract/projectRules.ts';
import type { StoredCommit } from '../git/parseObjects.ts';
import { findRef, type RefKind, requireReachable } from '../git/refs.ts';
import type { Repository } from '../git/repositories.ts';
import { exists } from '../git/repository.ts';
import { notFound, refused } from '../http/errors.ts';
import type { Member } from '../http/handlers.ts';
import { viewProject } from '../projects/find.ts';
import { actionable } from '../projects/present.ts';
import { asPerson } from '../slots/holder.ts';
import { presentCommitLine } from './present.ts';

export interface OpenProject {
  id: number;
  defaultBranch: string;
  repository: Repository;
  /** It is being created: its repository does not exist yet. */
  isAbsent: boolean;
}

/** A project of the caller's workspace, to read from. */
export async function openProject(ctx: Member, id: number): Promise<OpenProject> {
  const project = await viewProject(ctx.db, ctx.workspace.id, { id });
  const verdict = projectCan.read(actionable(project));
  if (!verdict.allowed) throw refused(verdict.reason);
  const repository = ctx.repositories.at(project.repository, asPerson(ctx.user.id, ctx.workspace.id));
  const isAbsent = project.status === 'creating' && !(await exists(repository.dir));
  return { id: project.id, defaultBranch: project.default_branch, repository, isAbsent };
}

/** What is read of a project: a commit, and the branch or tag that led to it. */
export interface Reading extends OpenProject {
  ref: { kind: RefKind; name: string } | null;
  /** Null: the default branch is asked for, and there is none yet. */
  commit: StoredCommit | null;
}

/** Refuses a branch that does not exist, and a commit that no branch and tag contains. */
export async function readAt(
  ctx: Member,
  { id, branch, sha }: { id: number; branch?: string | undefined; sha?: string | undefined },
): Promise<Reading> {
  const project = await openProject(ctx, id);
  const { repository, defaultBranch, isAbsent } = project;
  if (isAbsent) {
    if (branch !== undefined || sha !== undefined) throw notFound();
    return { ...project, ref: null, commit: null };
  }
  const named = branch ?? (sha === undefined ? defaultBranch : undefined);
  const ref = named === undefined ? null : await findRef(repository, named);
  // A commit is shown although the branch that once led to it is gone.
  if (branch !== undefined && !ref && sha === undefined) throw notFound();
  if (sha !== undefined) await requireReachable(repository, sha, ref?.commit ?? null);
  const tip = sha ?? ref?.commit;
  const commit = tip === undefined ? null : await repository.commit(tip);
  if (tip !== undefined && !commit) throw notFound();
  return { ...project, ref: ref && { kind: ref.kind, name: ref.name }, commit };
}

/** The same where there must be a commit. */
export async function readCommitAt(
  ctx: Member,
  at: { id: number; branch?: string | undefined; sha?: string | undefined },
): Promise<Reading & { commit: StoredCommit }> {
  const reading = await readAt(ctx, at);
  if (!reading.commit) throw notFound();
  return { ...reading, commit: reading.commit };
}

export function presentReading({ ref, defaultBranch, commit }: Reading): {
  isSuccess: true;
  branch: string | null;
  refKind: RefKind | null;
  defaultBranch: string;
  commit: CommitLine | null;
} {
  return {
    isSuccess: true,
    branch: ref?.name ?? null,
    refKind: ref?.kind ?? null,
    defaultBranch,
    commit: commit && presentCommitLine(commit),
  };
}
