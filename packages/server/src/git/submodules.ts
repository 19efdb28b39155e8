import { pathText } from '@stagi/contract/codePath.ts';
import type { StoredCommit } from './parseObjects.ts';
import type { Repository } from './repositories.ts';
import { GitError } from './run.ts';

const MAX_BYTES = 256 * 1024;

/** Where the submodule at this path is cloned from, as `.gitmodules` says; anything may stand there. */
export async function submoduleUrl(repository: Repository, commit: StoredCommit, path: string): Promise<string | null> {
  const entries = await repository.tree(commit.tree);
  const file = entries?.find(({ name }) => name === '.gitmodules');
  const info = file ? await repository.info(file.sha) : null;
  if (!file || info?.type !== 'blob' || info.size > MAX_BYTES) return null;
  try {
    const { stdout } = await repository.git(
      ['config', '--no-includes', '--blob', file.sha, '-z', '--get-regexp', '^submodule\\..*\\.(path|url)$'],
      { exitCodes: [0, 1] },
    );
    return parseSubmodules(stdout).get(path) ?? null;
  } catch (error) {
    // Not every `.gitmodules` is a valid file of settings.
    if (error instanceof GitError && error.reason === 'exit') return null;
    throw error;
  }
}

/** By the text of their path. `submodule.<name>.path\n<value>\0` and the same with `url`. */
export function parseSubmodules(output: Buffer): Map<string, string> {
  const modules = new Map<string, { path?: string; url?: string }>();
  // A byte a character.
  for (const setting of output.toString('latin1').split('\0')) {
    const [, name, key, value] = /^submodule\.(.*)\.(path|url)\n(.*)$/s.exec(setting) ?? [];
    if (name === undefined || value === undefined) continue;
    const bytes = Buffer.from(value, 'latin1');
    modules.set(name, { ...modules.get(name), [key!]: key === 'path' ? pathText(bytes) : bytes.toString() });
  }
  return new Map([...modules.values()].flatMap(({ path, url }) => (path && url ? [[path, url] as const] : [])));
}
