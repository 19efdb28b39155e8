import type { Commit, CommitLine } from '@stagi/contract/projectCode.ts';
import type { StoredCommit, StoredSignature } from '../git/parseObjects.ts';
import type { Repository } from '../git/repositories.ts';

const TITLE_CHARACTERS = 500;
const BODY_CHARACTERS = 50_000;
const NAME_CHARACTERS = 200;

export function presentCommitLine({ sha, title, author, committer }: StoredCommit): CommitLine {
  return {
    sha,
    title: cut(title, TITLE_CHARACTERS),
    author: presentSignature(author),
    committer: presentSignature(committer),
  };
}

export function presentCommit(commit: StoredCommit, parents: CommitLine[]): Commit {
  return { ...presentCommitLine(commit), body: cut(commit.body, BODY_CHARACTERS), parents, tree: commit.tree };
}

/** Commits by their hashes, in this order; one that is missing (of a shallow import) is left out. */
export async function commitLines(repository: Repository, shas: readonly string[]): Promise<CommitLine[]> {
  const commits = await Promise.all(shas.map((sha) => repository.commit(sha)));
  return commits.flatMap((commit) => (commit ? [presentCommitLine(commit)] : []));
}

const presentSignature = ({ name, email, at }: StoredSignature) => ({
  name: cut(name, NAME_CHARACTERS),
  email: cut(email, NAME_CHARACTERS),
  at: at.toISOString(),
});

const cut = (text: string, characters: number): string =>
  text.length > characters ? `${text.slice(0, characters).toWellFormed()}…` : text;
