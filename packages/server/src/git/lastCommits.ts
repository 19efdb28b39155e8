import type { StoredEntry } from './parseObjects.ts';
import type { Repository } from './repositories.ts';

interface Folder {
  commit: string;
  /** From the root, as it is stored; empty: the root. */
  path: Buffer;
  entries: readonly StoredEntry[];
}

/** After it the answer is given without the rest. */
const DEADLINE_MS = 2_500;
/** An answer without the rest is not computed anew for so long. */
const CUT_KEPT_MS = 60_000;
const HASH = /^[0-9a-f]{40}$/;

/**
 * The last commit of each entry of a folder, by the entry's name: the newest in `git log -- <folder>` that changed the
 * entry against all its parents to what it is now. One git process for all; it ends once each entry was seen. An entry
 * is missing in the answer if the time was over.
 */
export async function findLastCommits(
  repository: Repository,
  { commit, path, entries }: Folder,
): Promise<ReadonlyMap<string, string>> {
  const key = `folder ${commit} ${path.toString('latin1')}`;
  const known = repository.facts.get(key) as ReadonlyMap<string, string> | undefined;
  if (known) return known;
  const prefix = path.length > 0 ? `${path.toString('latin1')}/` : '';
  const open = new Map(entries.map((entry) => [prefix + entry.nameBytes.toString('latin1'), entry]));
  const found = new Map<string, string>();
  const parse = createChangesParser(({ sha, path, mode, object }) => {
    const entry = open.get(path);
    if (entry?.mode !== mode || entry.sha !== object) return;
    open.delete(path);
    // A copy: a part of a string keeps all of the output that it was cut from.
    found.set(entry.name, Buffer.from(sha).toString());
  });
  if (open.size > 0)
    await repository.git(
      // `-t`: folders, too. `-c`: of a merge only what differs from all its parents.
      ['log', '--format=%H', '--raw', '-t', '-c', '-z', '--no-abbrev', '--no-renames', commit, '--'],
      {
        ...(prefix !== '' && { path: Buffer.from(prefix, 'latin1') }),
        timeoutMs: DEADLINE_MS,
        onLimit: 'cut',
        onOutput: (chunk) => {
          parse(chunk);
          return open.size > 0;
        },
      },
    );
  repository.facts.set(key, found, open.size > 0 ? { ttl: CUT_KEPT_MS } : {});
  return found;
}

/** What `git log -1` finds for one path. Null: not found in time. */
export async function findLastCommit(
  repository: Repository,
  { commit, path }: Pick<Folder, 'commit' | 'path'>,
): Promise<string | null> {
  const key = `path ${commit} ${path.toString('latin1')}`;
  const known = repository.facts.get(key) as { sha: string | null } | undefined;
  if (known) return known.sha;
  const { stdout } = await repository.git(['log', '-1', '--format=%H', commit, '--'], {
    ...(path.length > 0 && { path }),
    timeoutMs: DEADLINE_MS,
    onLimit: 'cut',
  });
  const line = stdout.toString('latin1').trim();
  const sha = HASH.test(line) ? line : null;
  repository.facts.set(key, { sha }, sha === null ? { ttl: CUT_KEPT_MS } : {});
  return sha;
}

/** An entry that a commit made what it says. */
export interface Change {
  sha: string;
  /** Its bytes as Latin-1. */
  path: string;
  mode: string;
  object: string;
}

/**
 * Reads the output of `git log --format=%H --raw -z` chunk by chunk: for each commit its hash, then of each path a line
 * with a colon for each parent, their modes and its own, their hashes and its own; all ended by NUL.
 */
export function createChangesParser(onChange: (change: Change) => void): (chunk: Buffer) => void {
  let rest = '';
  let sha = '';
  let made: Pick<Change, 'mode' | 'object'> | null = null;
  return (chunk) => {
    const parts = (rest + chunk.toString('latin1')).split('\0');
    rest = parts.pop()!;
    for (const part of parts) {
      if (made) {
        onChange({ sha, path: part, ...made });
        made = null;
      } else if (HASH.test(part)) sha = part;
      else if (part !== '') made = parseChange(part);
    }
  };
}

function parseChange(line: string): Pick<Change, 'mode' | 'object'> {
  const start = line.indexOf(':');
  let parents = 0;
  while (line[start + parents] === ':') parents += 1;
  const fields = line.slice(start + parents).split(' ');
  const [mode, object] = [fields[parents], fields[2 * parents + 1]];
  if (start < 0 || mode === undefined || object === undefined) throw new Error(`unexpected answer of git log: ${line}`);
  return { mode, object };
}
