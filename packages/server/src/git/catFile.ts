import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { GitError, READ_TIMEOUT_MS, spawnGit } from './run.ts';

export type ObjectType = 'commit' | 'tree' | 'blob' | 'tag';
export interface ObjectInfo {
  type: ObjectType;
  size: number;
}
export interface StoredObject extends ObjectInfo {
  content: Buffer;
}

/** A running `git cat-file`, which reads any number of objects. Answers come in the order of the questions. */
export interface CatFile {
  /** Null: there is no such object. */
  info(sha: string): Promise<ObjectInfo | null>;
  /** The whole object, in memory: ask for the size of a blob first. */
  read(sha: string): Promise<StoredObject | null>;
  readonly isEnded: boolean;
  end(): void;
}

interface Question {
  sha: string;
  withContent: boolean;
  resolve(answer: StoredObject | null): void;
  reject(error: Error): void;
}

const HASH = /^[0-9a-f]{40}$/;
const EMPTY = Buffer.alloc(0);
const NEWLINE = 0x0a;

export function startCatFile(gitDir: string): CatFile {
  const child = spawnGit(gitDir, ['cat-file', '--batch-command']);
  const asked: Question[] = [];
  let isEnded = false;
  let stderr = '';
  let timer: NodeJS.Timeout | null = null;

  const parser = createAnswerParser(
    () => asked[0]?.withContent ?? false,
    (answer) => {
      watch();
      const question = asked.shift();
      if (asked.length === 0) stopWatching();
      question?.resolve(answer);
    },
  );
  child.stdout.on('data', (chunk: Buffer) => {
    try {
      parser(chunk);
    } catch (error) {
      fail(error as Error);
    }
  });
  child.stderr.on('data', (chunk: Buffer) => {
    if (stderr.length < 2_000) stderr += chunk.toString();
  });
  child.stdin.on('error', () => {});
  child.once('error', (cause) => fail(new GitError('not-started', 'cat-file', { cause })));
  child.once('close', (code) => fail(new GitError('exit', 'cat-file', { code, stderr: stderr.trim() })));

  /** One answer may take so long; the next one has the time again. */
  function watch(): void {
    if (timer) timer.refresh();
    else timer = setTimeout(() => fail(new GitError('timeout', 'cat-file')), READ_TIMEOUT_MS);
  }
  function stopWatching(): void {
    if (timer) clearTimeout(timer);
    timer = null;
  }
  function fail(error: Error): void {
    if (isEnded) return;
    isEnded = true;
    stopWatching();
    kill(child);
    for (const question of asked.splice(0)) question.reject(error);
  }
  function ask(sha: string, withContent: boolean): Promise<StoredObject | null> {
    // Also keeps a line of input from becoming two commands.
    if (!HASH.test(sha)) return Promise.reject(new Error(`not the full hash of an object: ${sha.slice(0, 80)}`));
    if (isEnded) return Promise.reject(new GitError('aborted', 'cat-file'));
    return new Promise((resolve, reject) => {
      if (asked.length === 0) watch();
      asked.push({ sha, withContent, resolve, reject });
      child.stdin.write(`${withContent ? 'contents' : 'info'} ${sha}\n`);
    });
  }

  return {
    info: (sha) => ask(sha, false),
    read: (sha) => ask(sha, true),
    get isEnded() {
      return isEnded;
    },
    end: () => fail(new GitError('aborted', 'cat-file')),
  };
}

function kill(child: ChildProcessWithoutNullStreams): void {
  child.stdin.destroy();
  child.kill('SIGKILL');
}

/**
 * Reads `<sha> <type> <size>\n`, then the content and `\n` where it was asked for; or `<sha> missing\n`. Chunks may end
 * anywhere.
 */
export function createAnswerParser(
  expectsContent: () => boolean,
  answer: (object: StoredObject | null) => void,
): (chunk: Buffer) => void {
  let rest: Buffer = EMPTY;
  let open: { info: ObjectInfo; parts: Buffer[]; missing: number } | null = null;

  return (chunk) => {
    let data = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    rest = EMPTY;
    for (;;) {
      if (open) {
        const part = data.subarray(0, open.missing);
        open.parts.push(part);
        open.missing -= part.length;
        data = data.subarray(part.length);
        if (open.missing > 0) return;
        const content = Buffer.concat(open.parts).subarray(0, open.info.size);
        const { info } = open;
        open = null;
        answer({ ...info, content });
        continue;
      }
      const end = data.indexOf(NEWLINE);
      if (end === -1) {
        rest = Buffer.from(data);
        return;
      }
      const info = parseHeader(data.toString('latin1', 0, end));
      data = data.subarray(end + 1);
      if (info === null) answer(null);
      // The newline after the content counts along.
      else if (expectsContent()) open = { info, parts: [], missing: info.size + 1 };
      else answer({ ...info, content: EMPTY });
    }
  };
}

function parseHeader(line: string): ObjectInfo | null {
  if (line.endsWith(' missing')) return null;
  const [, type, size] = /^[0-9a-f]{40} (commit|tree|blob|tag) (\d+)$/.exec(line) ?? [];
  if (!type) throw new GitError('exit', 'cat-file', { stderr: `unexpected answer: ${line.slice(0, 200)}` });
  return { type: type as ObjectType, size: Number(size) };
}
