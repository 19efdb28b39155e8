import { pathText } from '@stagi/contract/codePath.ts';
import type { Repository } from './repositories.ts';

export interface BlamedRange {
  /** From 1. */
  line: number;
  lines: number;
  sha: string;
  /** The text of the file's name in that commit. */
  path: string;
}

/** Which commit last changed each line of a file, in the order of the lines. */
export async function blame(
  repository: Repository,
  { commit, path, ignoreWhitespace }: { commit: string; path: Buffer; ignoreWhitespace: boolean },
): Promise<BlamedRange[]> {
  const { stdout } = await repository.git(
    ['blame', '--incremental', ...(ignoreWhitespace ? ['-w'] : []), commit, '--'],
    { path },
  );
  return parseBlame(stdout.toString());
}

/**
 * A group for each range: `<hash> <line there> <line here> <lines>`, headers of the commit where it is named first, and
 * `filename <path>` as the last line.
 */
export function parseBlame(output: string): BlamedRange[] {
  const ranges: BlamedRange[] = [];
  let open: Omit<BlamedRange, 'path'> | null = null;
  for (const line of output.split('\n')) {
    const [, sha, at, lines] = /^([0-9a-f]{40}) \d+ (\d+) (\d+)$/.exec(line) ?? [];
    if (sha) open = { sha, line: Number(at), lines: Number(lines) };
    else if (open && line.startsWith('filename ')) {
      ranges.push({ ...open, path: unquoted(line.slice('filename '.length)) });
      open = null;
    }
  }
  return ranges.sort((a, b) => a.line - b.line);
}

/** A name with special characters is in quotes, bytes above 127 in octal. */
function unquoted(name: string): string {
  if (!name.startsWith('"') || !name.endsWith('"')) return pathText(Buffer.from(name));
  const bytes: number[] = [];
  const LETTERS: Record<string, number> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13 };
  for (const [, octal, letter, plain] of name.slice(1, -1).matchAll(/\\([0-7]{3})|\\(.)|([^\\]+)/gs)) {
    if (octal) bytes.push(Number.parseInt(octal, 8));
    else if (letter) bytes.push(LETTERS[letter] ?? letter.charCodeAt(0));
    else bytes.push(...Buffer.from(plain ?? ''));
  }
  return pathText(Uint8Array.from(bytes));
}
