import { notFound } from '../http/errors.ts';
import type { StoredEntry } from './parseObjects.ts';
import { joinNames, splitPath } from './paths.ts';
import type { Repository } from './repositories.ts';

/** What a path leads to in a commit. */
export interface Found {
  /** As it is stored. */
  path: Buffer;
  /** Null: the root folder. */
  entry: StoredEntry | null;
  /** Null: no folder. */
  tree: string | null;
}

export const FOLDER_MODE = '040000';
const SYMLINK_MODE = '120000';
const SUBMODULE_MODE = '160000';

export function typeOf({ mode }: Pick<StoredEntry, 'mode'>): 'tree' | 'blob' | 'symlink' | 'submodule' {
  if (mode === FOLDER_MODE) return 'tree';
  if (mode === SYMLINK_MODE) return 'symlink';
  return mode === SUBMODULE_MODE ? 'submodule' : 'blob';
}

/** Follows a path one tree at a time, by the names that the trees have. Symbolic links are not followed. */
export async function walkTo(repository: Repository, rootTree: string, path: string): Promise<Found> {
  const parts = splitPath(path);
  if (!parts) throw notFound();
  let tree: string | null = rootTree;
  let entry: StoredEntry | null = null;
  for (const part of parts) {
    const entries: readonly StoredEntry[] | null = tree ? await repository.tree(tree) : null;
    entry = entries?.find(({ nameBytes }) => nameBytes.equals(part)) ?? null;
    if (!entry) throw notFound();
    tree = typeOf(entry) === 'tree' ? entry.sha : null;
  }
  return { path: joinNames(parts), entry, tree };
}
