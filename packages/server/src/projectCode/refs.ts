import type { api } from '@stagi/contract/api.ts';
import type { OutputOf, ParsedInputOf } from '@stagi/contract/call.ts';
import { listRefsOf } from '../git/refs.ts';
import type { Member } from '../http/handlers.ts';
import { openProject } from './at.ts';
import { presentCommitLine } from './present.ts';

type Input = ParsedInputOf<typeof api.projectCode.refs>;
type Output = OutputOf<typeof api.projectCode.refs>;

export async function listRefs(ctx: Member, { id, kind, query = '', limit, page }: Input): Promise<Output> {
  const { repository, defaultBranch, isAbsent } = await openProject(ctx, id);
  if (isAbsent) return { isSuccess: true, defaultBranch, refs: [], totalCount: 0 };
  const wanted = query.toLowerCase();
  const isDefault = (name: string): boolean => kind === 'branch' && name === defaultBranch;
  const found = (await listRefsOf(repository, kind))
    .filter(({ name }) => name.toLowerCase().includes(wanted))
    .toSorted((a, b) => Number(isDefault(b.name)) - Number(isDefault(a.name)));
  const shown = found.slice((page - 1) * limit, page * limit);
  const commits = await Promise.all(shown.map(({ commit }) => repository.commit(commit)));
  return {
    isSuccess: true,
    defaultBranch,
    refs: shown.flatMap(({ name }, n) => {
      const commit = commits[n];
      return commit ? [{ name, kind, isDefault: isDefault(name), commit: presentCommitLine(commit) }] : [];
    }),
    totalCount: found.length,
  };
}
