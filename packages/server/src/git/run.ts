import { isUtf8 } from 'node:buffer';
import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { constants, setPriority } from 'node:os';

/** A git process that did not do what it was asked. `reason` says how it ended. */
export class GitError extends Error {
  readonly reason: 'exit' | 'timeout' | 'too-large' | 'aborted' | 'not-started';
  readonly code: number | null;
  readonly stderr: string;
  constructor(reason: GitError['reason'], command: string, { code = null, stderr = '', cause }: Details = {}) {
    super(`git ${command}: ${reason}${code === null ? '' : ` ${code}`}${stderr && `: ${stderr}`}`, { cause });
    this.name = 'GitError';
    this.reason = reason;
    this.code = code;
    this.stderr = stderr;
  }
}
interface Details {
  code?: number | null;
  stderr?: string;
  cause?: unknown;
}

export interface GitOptions {
  /** The last argument, after `--`: the bytes of a path. */
  path?: Buffer;
  /** Written to its standard input, which is then closed. */
  input?: string | Buffer;
  /** It is killed after this time. */
  timeoutMs?: number;
  /** It is killed once it has written more than this. */
  maxOutputBytes?: number;
  /** What a timeout or too much output does: an error, or what was written so far with `isCut`. */
  onLimit?: 'throw' | 'cut';
  /** Exit codes that are no error. */
  exitCodes?: readonly number[];
  signal?: AbortSignal | undefined;
  env?: Record<string, string>;
  /** Takes the output as it comes, instead of `stdout`; false ends the process, with `isCut`. */
  onOutput?: (chunk: Buffer) => boolean;
}

export interface GitOutput {
  stdout: Buffer;
  code: number | null;
  /** A limit or `onOutput` ended it: the output is a beginning. */
  isCut: boolean;
}

export const READ_TIMEOUT_MS = 10_000;
const MAX_OUTPUT_BYTES = 32 * 1024 * 1024;
const MAX_STDERR_CHARACTERS = 4_000;

/**
 * Nothing of the machine's configuration and nothing of the platform's environment reaches git. Replacement refs are
 * ignored: anybody who may push could make a hash show another object. Paths are never patterns.
 */
export function gitEnv(more: Record<string, string> = {}): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '/usr/local/bin:/usr/bin:/bin',
    HOME: '/nonexistent',
    LANG: 'C',
    LC_ALL: 'C',
    TZ: 'UTC',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_LITERAL_PATHSPECS: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_PAGER: 'cat',
    // A restored data folder may belong to another user than before.
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'safe.directory',
    GIT_CONFIG_VALUE_0: '*',
    ...more,
  };
}

/**
 * Runs git on a bare repository, and answers what it wrote. `args` begin with the command and hold no text of a user
 * except full hashes and what follows `--`. The caller bounds how many run. `gitDir` null: outside of a repository.
 */
export function runGit(
  gitDir: string | null,
  args: readonly string[],
  {
    path,
    input,
    timeoutMs = READ_TIMEOUT_MS,
    maxOutputBytes = MAX_OUTPUT_BYTES,
    onLimit = 'throw',
    exitCodes = [0],
    signal,
    env,
    onOutput,
  }: GitOptions = {},
): Promise<GitOutput> {
  const command = args[0] ?? '';
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(new GitError('aborted', command));
      return;
    }
    const child = spawnGit(gitDir, args, env, path);
    const chunks: Buffer[] = [];
    let bytes = 0;
    let stderr = '';
    let ended: GitError['reason'] | 'enough' | null = null;
    const end = (reason: GitError['reason'] | 'enough'): void => {
      ended ??= reason;
      child.kill('SIGKILL');
    };
    const timer = setTimeout(() => end('timeout'), timeoutMs);
    const abort = (): void => end('aborted');
    signal?.addEventListener('abort', abort, { once: true });

    child.stdout.on('data', (chunk: Buffer) => {
      if (ended) return;
      if (onOutput) {
        try {
          if (!onOutput(chunk)) end('enough');
        } catch (error) {
          reject(error as Error);
          end('enough');
        }
        return;
      }
      const room = maxOutputBytes - bytes;
      chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
      bytes += chunk.length;
      if (bytes > maxOutputBytes) end('too-large');
    });
    child.stderr.on('data', (chunk: Buffer) => {
      if (stderr.length < MAX_STDERR_CHARACTERS) stderr += chunk.toString();
    });
    // It may end before it has read everything: its exit code says whether that is an error.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    child.once('error', (cause) => {
      stopWatching();
      reject(new GitError('not-started', command, { cause }));
    });
    child.once('close', (code) => {
      stopWatching();
      const stdout = Buffer.concat(chunks);
      const details = { code, stderr: stderr.slice(0, MAX_STDERR_CHARACTERS).trim() };
      if (ended === null && code !== null && exitCodes.includes(code)) resolve({ stdout, code, isCut: false });
      else if (ended === 'enough' || (onLimit === 'cut' && (ended === 'timeout' || ended === 'too-large')))
        resolve({ stdout, code, isCut: true });
      else reject(new GitError(ended ?? 'exit', command, details));
    });

    function stopWatching(): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    }
  });
}

/** Starts git with pipes; the caller ends it. For processes that live long and for transfers. */
export function spawnGit(
  gitDir: string | null,
  args: readonly string[],
  env: Record<string, string> = {},
  path?: Buffer,
): ChildProcessWithoutNullStreams {
  const [program, all, more] = commandOf(args, path);
  const child = spawn(program, all, {
    cwd: '/',
    // Set, so that git looks for a repository nowhere else.
    env: gitEnv({ ...(gitDir !== null && { GIT_DIR: gitDir }), ...env, ...more }),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  yieldToOthers(child);
  return child;
}

/** Becomes git. Its text is always the same; the full stop keeps line ends at the end of the path. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: a text for the shell.
const WITH_BYTES = 'path=$(printf "%b." "$STAGI_PATH") && exec git "$@" "${path%.}"';

/** Node writes each argument as UTF-8; the shell can give git the bytes of any path, which it reads as octal digits. */
function commandOf(
  args: readonly string[],
  path: Buffer | undefined,
): [program: string, args: readonly string[], env: Record<string, string>] {
  if (!path) return ['git', args, {}];
  if (isUtf8(path)) return ['git', [...args, path.toString()], {}];
  const octal = [...path].map((byte) => `\\0${byte.toString(8).padStart(3, '0')}`).join('');
  return ['/bin/sh', ['-c', WITH_BYTES, 'git', ...args], { STAGI_PATH: octal }];
}

/** Work of one person must not keep the process waiting that serves everybody. */
export function yieldToOthers({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch (error) {
    // It has just ended.
    if ((error as { code?: string }).code !== 'ERR_SYSTEM_ERROR') throw error;
  }
}
