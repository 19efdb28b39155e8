import { randomUUID } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { runGit } from '../run.ts';

/** A commit to make. Its parent is the one before it on its branch, unless it says otherwise. */
export interface NewCommit {
  message: string;
  branch?: string;
  /** Indexes of commits in the list: the first parent, and those that are merged. */
  parents?: readonly number[];
  author?: string;
  email?: string;
  /** Seconds; each commit is a minute later than the one before it by default. */
  time?: number;
  /** By path; null: removed. A Buffer or text is a file, an object has a mode of its own. */
  files?: Record<string, string | Buffer | null | { mode: string; content: string | Buffer }>;
}

const START = 1_700_000_000;

/** Fills a repository with `git fast-import`, and answers the hashes of the commits in their order. */
export async function importCommits(
  gitDir: string,
  commits: readonly NewCommit[],
  { tags = {} }: { tags?: Record<string, number> } = {},
): Promise<string[]> {
  const parts: Buffer[] = [];
  const write = (line: string): void => void parts.push(Buffer.from(`${line}\n`));
  const data = (content: string | Buffer): void => {
    const bytes = Buffer.from(content as string);
    write(`data ${bytes.length}`);
    parts.push(bytes, Buffer.from('\n'));
  };
  const begun = new Set<string>();
  for (const [
    n,
    { message, branch = 'main', parents, author = 'Ada', email = 'ada@example.com', time, files = {} },
  ] of commits.entries()) {
    const at = `${time ?? START + n * 60} +0000`;
    write(`commit refs/heads/${branch}`);
    write(`mark :${n + 1}`);
    write(`author ${author} <${email}> ${at}`);
    write(`committer ${author} <${email}> ${at}`);
    data(message);
    const [first, ...merged] = parents ?? [];
    if (first !== undefined) write(`from :${first + 1}`);
    else if (!begun.has(branch) && parents === undefined && n > 0 && branch !== 'main') write(`from :${n}`);
    for (const parent of merged) write(`merge :${parent + 1}`);
    begun.add(branch);
    for (const [path, file] of Object.entries(files)) {
      if (file === null) {
        write(`D ${quoted(path)}`);
        continue;
      }
      const { mode, content } =
        typeof file === 'string' || Buffer.isBuffer(file) ? { mode: '100644', content: file } : file;
      if (mode === '160000') {
        write(`M 160000 ${content.toString()} ${quoted(path)}`);
        continue;
      }
      write(`M ${mode} inline ${quoted(path)}`);
      data(content);
    }
  }
  for (const [name, n] of Object.entries(tags)) {
    write(`reset refs/tags/${name}`);
    write(`from :${n + 1}`);
    write('');
  }
  write('done');
  const marks = `${gitDir}/marks-${randomUUID()}`;
  await runGit(gitDir, ['fast-import', '--quiet', '--done', '--force', `--export-marks=${marks}`], {
    input: Buffer.concat(parts),
    timeoutMs: 300_000,
  });
  const lines = (await readFile(marks, 'latin1')).trim().split('\n');
  await rm(marks);
  const shas: string[] = [];
  for (const line of lines) {
    const [mark, sha] = line.split(' ');
    shas[Number(mark!.slice(1)) - 1] = sha!;
  }
  return shas;
}

/** As fast-import reads names: any bytes in quotes, with `"`, `\` and control characters escaped. */
function quoted(path: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a hostile name may have these.
  return `"${path.replace(/["\\]/g, '\\$&').replace(/[\x00-\x1f\x7f]/g, (one) => `\\${one.charCodeAt(0).toString(8).padStart(3, '0')}`)}"`;
}
