import type { Ref } from '@stagi/contract/page.ts';
import { projectCan } from '@stagi/contract/projectRules.ts';
import { text } from '@stagi/contract/text.ts';
import type { Context } from '../context.ts';
import { commitsBeginningWith, findRef, isReachable } from '../git/refs.ts';
import type { Repository } from '../git/repositories.ts';
import { exists } from '../git/repository.ts';
import { invalid, PublicError } from '../http/errors.ts';
import { type ProjectView, viewProject } from '../projects/find.ts';
import { asWorkspace } from '../slots/holder.ts';

type Reader = Pick<Context, 'db' | 'repositories'> & { workspace: { id: number } };

/** What a task runs, as it was when it was asked for. */
export interface FoundCommit {
  sha: string;
  message: string;
  at: Date | null;
  /** The branch or tag that was asked for. */
  ref: string | null;
}

const MESSAGE_CHARACTERS = 300;
const FULL = /^[0-9a-f]{40}$/;

/** The project of a task, which may be changed. */
export async function changeableProject(
  { db, workspace }: Pick<Reader, 'db' | 'workspace'>,
  ref: Ref,
): Promise<ProjectView> {
  const project = await viewProject(db, workspace.id, ref).catch((error: unknown) => {
    if (error instanceof PublicError && error.status === 404)
      throw invalid(text('This project cannot be chosen'), 'projectRef');
    throw error;
  });
  const verdict = projectCan.change(project);
  if (!verdict.allowed) throw invalid(verdict.reason, 'projectRef');
  return project;
}

/**
 * The commit that a branch, a tag or a hash, also a shortened one, names now. Only what a branch or tag contains can be
 * run, as only that is shown. Runs git: never within a transaction.
 */
export async function findCommit(
  ctx: Reader,
  { projectRef, commit }: { projectRef: Ref; commit: string },
): Promise<FoundCommit> {
  const project = await changeableProject(ctx, projectRef);
  const repository = ctx.repositories.at(project.repository, asWorkspace(ctx.workspace.id));
  const isAbsent = project.status === 'creating' && !(await exists(repository.dir));
  const found = isAbsent ? null : await look(repository, commit, project.default_branch);
  const stored = found && (await repository.commit(found.sha));
  if (!stored) throw noCommit();
  const { sha, title, committer } = stored;
  return { sha, message: title.slice(0, MESSAGE_CHARACTERS).toWellFormed(), at: committer.at, ref: found.ref };
}

const noCommit = (): PublicError => invalid(text('This commit does not exist'), 'commit');

async function look(
  repository: Repository,
  named: string,
  defaultBranch: string,
): Promise<{ sha: string; ref: string | null } | null> {
  const digits = named.toLowerCase();
  const ref = FULL.test(digits) ? null : await findRef(repository, named);
  if (ref) return { sha: ref.commit, ref: ref.name };
  const likely = (await findRef(repository, defaultBranch))?.commit ?? null;
  const candidates = await commitsBeginningWith(repository, digits);
  const reachable: string[] = [];
  for (const sha of candidates) if (await isReachable(repository, sha, likely)) reachable.push(sha);
  if (reachable.length > 1)
    throw invalid(text('Several commits begin with these digits: write more of them'), 'commit');
  return reachable[0] === undefined ? null : { sha: reachable[0], ref: null };
}
