import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export async function git(cwd: string, ...args: string[]): Promise<string> {
  const { stdout } = await run('git', args, {
    cwd,
    env: {
      PATH: process.env.PATH,
      HOME: '/nonexistent',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_AUTHOR_NAME: 'Ada',
      GIT_AUTHOR_EMAIL: 'ada@example.com',
      GIT_COMMITTER_NAME: 'Ada',
      GIT_COMMITTER_EMAIL: 'ada@example.com',
    },
  });
  return stdout.trim();
}

export interface WorkTree {
  dir: string;
  /** Answers the new commit's hash. */
  commit(message: string, content?: string): Promise<string>;
  push(to: string, ...refs: string[]): Promise<void>;
  remove(): Promise<void>;
}

/** A clone on this machine's disk, with nothing in it. */
export async function aWorkTree(branch = 'main'): Promise<WorkTree> {
  const dir = await mkdtemp(join(tmpdir(), 'stagi-git-'));
  await git(dir, 'init', '--quiet', `--initial-branch=${branch}`);
  return {
    dir,
    async commit(message, content = message) {
      await writeFile(join(dir, 'README.md'), content);
      await git(dir, 'add', '.');
      await git(dir, 'commit', '--quiet', '--allow-empty', '-m', message);
      return git(dir, 'rev-parse', 'HEAD');
    },
    push: async (to, ...refs) => void (await git(dir, 'push', '--quiet', '--force', to, ...refs)),
    remove: () => rm(dir, { recursive: true, force: true }),
  };
}
