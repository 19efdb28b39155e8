import { pathText } from '@stagi/contract/codePath.ts';
import type { Repository } from './repositories.ts';

export interface FileMatches {
  path: string;
  lines: { line: number; text: string }[];
  isMore: boolean;
}

export interface GrepLimits {
  files: number;
  linesPerFile: number;
}

const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;
/** The paths of a tree are read up to this length. */
const MAX_PATHS_BYTES = 32 * 1024 * 1024;
const SEARCH_MS = 8_000;
const LINE_CHARACTERS = 300;
const BEFORE_MATCH = 80;
const PLAIN_NAME = /^[\x20-\x5b\x5d-\x7e]*$/;

/** Lines that contain a text, in the text files of a commit at or below a path. */
export async function grep(
  repository: Repository,
  { commit, path, query, matchCase }: { commit: string; path: Buffer; query: string; matchCase: boolean },
  limits: GrepLimits,
  signal?: AbortSignal,
): Promise<{ files: FileMatches[]; isMore: boolean }> {
  const { stdout, isCut } = await repository.git(
    [
      'grep',
      '--no-color',
      '--no-textconv',
      '-I',
      '-n',
      '-z',
      '--full-name',
      '--fixed-strings',
      // One more than is shown: so that it is known whether there are more.
      `--max-count=${limits.linesPerFile + 1}`,
      '--threads=1',
      ...(matchCase ? [] : ['--ignore-case']),
      '-e',
      query,
      commit,
      '--',
    ],
    {
      ...(path.length > 0 && { path }),
      exitCodes: [0, 1],
      onLimit: 'cut',
      maxOutputBytes: MAX_OUTPUT_BYTES,
      timeoutMs: SEARCH_MS,
      signal,
    },
  );
  const { files, isMore } = parseGrep(stdout, { commit, query, matchCase }, limits);
  return { files, isMore: isMore || isCut };
}

/** `<commit>:<path>\0<line>\0<text>\n` for each line. The last one may be cut off. */
export function parseGrep(
  output: Buffer,
  { commit, query, matchCase }: { commit: string; query: string; matchCase: boolean },
  limits: GrepLimits,
): { files: FileMatches[]; isMore: boolean } {
  const files: FileMatches[] = [];
  const prefix = `${commit}:`;
  let at = 0;
  while (at < output.length) {
    const pathEnd = output.indexOf(0, at);
    const lineEnd = output.indexOf(0, pathEnd + 1);
    const end = output.indexOf('\n', lineEnd + 1);
    if (pathEnd === -1 || lineEnd === -1 || end === -1) break;
    const path = pathText(output.subarray(at + prefix.length, pathEnd));
    let file = files.at(-1);
    if (file?.path !== path) {
      if (files.length === limits.files) return { files, isMore: true };
      file = { path, lines: [], isMore: false };
      files.push(file);
    }
    if (file.lines.length === limits.linesPerFile) file.isMore = true;
    else
      file.lines.push({
        line: Number(output.toString('latin1', pathEnd + 1, lineEnd)),
        text: around(output.toString('utf8', lineEnd + 1, end), query, matchCase),
      });
    at = end + 1;
  }
  return { files, isMore: false };
}

/** A long line is cut, so that the match is in what is left. */
function around(line: string, query: string, matchCase: boolean): string {
  const plain = line.endsWith('\r') ? line.slice(0, -1) : line;
  if (plain.length <= LINE_CHARACTERS) return plain;
  const at = matchCase ? plain.indexOf(query) : plain.toLowerCase().indexOf(query.toLowerCase());
  const from = at <= BEFORE_MATCH ? 0 : at - BEFORE_MATCH;
  const part = plain.slice(from, from + LINE_CHARACTERS).toWellFormed();
  return `${from > 0 ? '…' : ''}${part}${from + LINE_CHARACTERS < plain.length ? '…' : ''}`;
}

/** Paths of files, in the order of the tree, that contain a text. */
export async function findPaths(
  repository: Repository,
  { tree, below, query, matchCase }: { tree: string; below: string; query: string; matchCase: boolean },
  limit: number,
): Promise<{ paths: string[]; isMore: boolean }> {
  const wanted = matchCase ? query : query.toLowerCase();
  const found: string[] = [];
  let isMore = false;
  let rest: Buffer = Buffer.alloc(0);
  let bytes = 0;
  // As they come, so that a tree of millions of files stands nobody still, and its walk ends with the last that is shown.
  const { isCut } = await repository.git(['ls-tree', '-r', '-z', '--full-tree', '--name-only', tree], {
    onLimit: 'cut',
    onOutput(chunk) {
      bytes += chunk.length;
      const all = Buffer.concat([rest, chunk]);
      const end = all.lastIndexOf(0) + 1;
      rest = all.subarray(end);
      for (const stored of all.toString('latin1', 0, end).split('\0')) {
        // Most are plain, and there may be millions.
        const name = PLAIN_NAME.test(stored) ? stored : pathText(Buffer.from(stored, 'latin1'));
        const path = below ? `${below}/${name}` : name;
        if (name === '' || !(matchCase ? path : path.toLowerCase()).includes(wanted)) continue;
        isMore = found.length === limit;
        if (isMore) return false;
        found.push(path);
      }
      return bytes <= MAX_PATHS_BYTES;
    },
  });
  return { paths: found, isMore: isMore || isCut };
}
