import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { api } from '@stagi/contract/api.ts';
import { createRepository, repositoryDir } from '../../git/repository.ts';
import type { TestApp } from '../../testing/app.ts';
import { anApiToken, aProject } from '../../testing/factories.ts';
import type { Person } from '../../testing/person.ts';

export interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A person's machine: a home folder, git and ssh. */
export interface Machine {
  home: string;
  /** Runs git and answers how it ended. */
  git(args: string[], options?: RunOptions): Promise<Ran>;
  /** The same; throws unless it succeeds. Answers what it printed. */
  ok(args: string[], options?: RunOptions): Promise<string>;
  spawn(command: string, args: string[], options?: RunOptions): ChildProcess;
  run(command: string, args: string[], options?: RunOptions): Promise<Ran>;
  /** Makes a key pair and answers the public line. */
  sshKey(type?: 'ed25519' | 'rsa' | 'ecdsa'): Promise<string>;
  /** A clone with one commit on `main` and a remote `origin`. */
  repository(name: string, origin: string): Promise<string>;
  /** Commits a file. Answers the commit's hash. */
  commit(folder: string, file: string, content: string | Buffer): Promise<string>;
  remove(): void;
}

interface RunOptions {
  cwd?: string;
  env?: Record<string, string>;
  input?: string;
  inputBytes?: Buffer;
}

export function aMachine(): Machine {
  const home = mkdtempSync(join(tmpdir(), 'stagi-git-'));
  const keyFile = join(home, 'id');
  const sshCommand = [
    'ssh -F /dev/null -o BatchMode=yes -o StrictHostKeyChecking=no -o IdentitiesOnly=yes -o LogLevel=ERROR',
    `-o UserKnownHostsFile=${join(home, 'known_hosts')} -i ${keyFile}`,
  ].join(' ');

  const machine: Machine = {
    home,
    git: (args, options) => machine.run('git', args, options),
    async ok(args, options) {
      const ran = await machine.git(args, options);
      if (ran.code !== 0) throw new Error(`git ${args.join(' ')} ended with ${ran.code}: ${ran.stderr}`);
      return ran.stdout;
    },
    spawn: (command, args, { cwd = home, env = {} } = {}) =>
      spawn(command, args, {
        cwd,
        env: {
          PATH: process.env.PATH,
          HOME: home,
          LC_ALL: 'C',
          GIT_CONFIG_NOSYSTEM: '1',
          GIT_TERMINAL_PROMPT: '0',
          GIT_SSH_COMMAND: sshCommand,
          GIT_AUTHOR_NAME: 'Ada',
          GIT_AUTHOR_EMAIL: 'ada@example.com',
          GIT_COMMITTER_NAME: 'Ada',
          GIT_COMMITTER_EMAIL: 'ada@example.com',
          ...env,
        },
        stdio: ['pipe', 'pipe', 'pipe'],
      }),
    run(command, args, options = {}) {
      const child = machine.spawn(command, args, options);
      child.stdin!.on('error', () => {});
      child.stdin!.end(options.inputBytes ?? options.input ?? '');
      return endOf(child);
    },
    async sshKey(type = 'ed25519') {
      rmSync(keyFile, { force: true });
      rmSync(`${keyFile}.pub`, { force: true });
      const { code, stderr } = await machine.run('ssh-keygen', ['-q', '-t', type, '-N', '', '-f', keyFile]);
      if (code !== 0) throw new Error(stderr);
      return readFileSync(`${keyFile}.pub`, 'utf8').trim();
    },
    async repository(name, origin) {
      const folder = join(home, name);
      await machine.ok(['init', '-q', '-b', 'main', folder]);
      await machine.ok(['remote', 'add', 'origin', origin], { cwd: folder });
      await machine.commit(folder, 'README.md', `# ${name}\n`);
      return folder;
    },
    async commit(folder, file, content) {
      writeFileSync(join(folder, file), content);
      await machine.ok(['add', '-A'], { cwd: folder });
      await machine.ok(['commit', '-q', '-m', `Add ${file}`], { cwd: folder });
      return (await machine.ok(['rev-parse', 'HEAD'], { cwd: folder })).trim();
    },
    remove: () => rmSync(home, { recursive: true, force: true }),
  };
  return machine;
}

export function endOf(child: ChildProcess): Promise<Ran> {
  let [stdout, stderr] = ['', ''];
  child.stdout!.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr!.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
}

export interface HostedProject {
  id: number;
  slug: string;
  dir: string;
  /** With the password of `token` in it. */
  https(token: string): string;
  ssh: string;
}

/** A project with an empty repository. */
export async function aHostedProject(app: TestApp, owner: Person): Promise<HostedProject> {
  const id = await aProject(app.ctx, owner);
  const { repository, slug } = await app.ctx.db
    .selectFrom('project')
    .select(['repository', 'slug'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  await createRepository(app.ctx.config, repository);
  const path = `${owner.workspaceId}/${slug}.git`;
  return {
    id,
    slug,
    dir: repositoryDir(app.ctx.config, repository),
    https: (token) => `${app.url.replace('://', `://git:${token}@`)}/git/${path}`,
    ssh: `ssh://git@127.0.0.1:${app.ctx.config.gitSshPort}/${path}`,
  };
}

/** Adds a public key to an account, as its page does. */
export async function addSshKey(person: Person, publicKey: string): Promise<void> {
  await person.client(api.sshKeys.add, { title: `key ${randomBytes(4).toString('hex')}`, publicKey });
}

/** Somebody who signed up, with a machine whose SSH key is theirs, and an API token. */
export async function aGitUser(app: TestApp, name = 'Ada') {
  const person = await app.signUp(name);
  const machine = aMachine();
  const publicKey = await machine.sshKey();
  await addSshKey(person, publicKey);
  return { person, machine, publicKey, token: await aToken(app, person) };
}

export const aToken = async (app: TestApp, owner: Person, permissions?: Parameters<typeof anApiToken>[2]) =>
  (await anApiToken(app.ctx, owner, permissions)).token;

/** A program that is run in place of ssh, from a text. */
export function aScript(machine: Machine, name: string, text: string): string {
  const path = join(machine.home, name);
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
}
