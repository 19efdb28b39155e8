import { api } from '@stagi/contract/api.ts';
import type { Furnished } from './furnish.ts';

type Question = readonly [path: string, input: object];

/** What the pages of the code ask when somebody goes on from their first page: each folder, file and commit. */
export async function questionsOfCode({ maya, projects }: Furnished): Promise<Question[]> {
  const { client } = maya;
  const found: Question[] = [];
  const keep = (of: { path: string }, input: object) => found.push([of.path, input]);
  for (const id of Object.values(projects)) {
    const at = async (place: { branch?: string; sha?: string }, path: string): Promise<void> => {
      keep(api.projectCode.tree, { id, ...place, path });
      const { entries } = await client(api.projectCode.tree, { id, ...place, path });
      for (const { name, type } of entries) {
        const inner = path === '' ? name : `${path}/${name}`;
        if (type === 'tree') await at(place, inner);
        else {
          keep(api.projectCode.blob, { id, ...place, path: inner });
          if (place.branch) keep(api.projectCode.blame, { id, ...place, path: inner });
        }
      }
    };
    await at({ branch: 'main' }, '');
    const { commits } = await client(api.projectCode.commits, { id, branch: 'main', path: '' });
    for (const { sha } of commits) {
      await at({ sha }, '');
      for (const ignoreWhitespace of [false, true])
        keep(api.projectCode.commit, { id, sha, path: '', ignoreWhitespace });
    }
    for (const kind of ['branch', 'tag'] as const) keep(api.projectCode.refs, { id, kind, limit: 30 });
  }
  return found;
}
