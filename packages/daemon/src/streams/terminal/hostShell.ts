import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { access, constants } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { basename } from 'node:path';
import { Duplex } from 'node:stream';
import { promisify } from 'node:util';
import type { IPty } from '@lydell/node-pty';
import { SHELLS, type Shell, type TerminalSize } from '@stagi/contract/terminals.ts';
import { text } from '@stagi/contract/text.ts';
import { hasErrorCode } from '../../atomicFile.ts';
import { sleep } from '../../timing.ts';
import { RefusedStream } from '../streamServer.ts';
import type { Remember } from './containerShell.ts';
import { cgroupOf, endTerminal, markOf, type ProcessMark } from './processes.ts';
import type { ShellProcess } from './shellProcess.ts';

const run = promisify(execFile);

const FOLDERS = ['/bin', '/usr/bin', '/usr/local/bin'];
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const MAIN_PID_TRIES = 100;
const MAIN_PID_POLL_MS = 50;

/** Starts a login shell of root on this server. Throws RefusedStream when there is none. */
export async function hostShell(
  { shell: wanted, cols, rows }: TerminalSize & { shell: Shell | null },
  remember: Remember,
): Promise<ShellProcess> {
  const shell = await findShell(wanted);
  const unit = (await hasSystemd()) ? `stagi-terminal-${randomUUID()}` : null;
  const { program, args } = hostCommand(shell, unit);
  // Loaded at the first use: a daemon without its library opens no terminals, and does all else.
  const { spawn } = await import('@lydell/node-pty');
  const pty = spawn(program, args, {
    name: 'xterm-256color',
    cols,
    rows,
    cwd: home(),
    env: environment(shell),
    encoding: null,
  });
  const exited = new Promise<number>((resolve) =>
    pty.onExit(({ exitCode, signal }) => resolve(signal ? 128 + signal : exitCode)),
  );
  const mark = unit ? await markOfUnit(unit) : await markOf(pty.pid, await cgroupOf(process.pid));
  await remember({ execId: null, cgroup: null, mark });
  return {
    shell: basename(shell),
    terminal: duplexOf(pty),
    resize: async (size) => pty.resize(size.cols, size.rows),
    exitCode: () => exited,
    async kill() {
      if (mark) await endTerminal(mark);
      else pty.kill('SIGHUP');
    },
  };
}

/**
 * The command of a shell. With systemd it runs in a unit of its own: the daemon's restrictions, which its children
 * inherit, are not those of an administrator. What was put into the background outlives the shell, as after SSH.
 */
export function hostCommand(shell: string, unit: string | null): { program: string; args: string[] } {
  if (!unit) return { program: shell, args: ['-l'] };
  const env = Object.entries(environment(shell)).map(([name, value]) => `--setenv=${name}=${value}`);
  const how = ['--quiet', '--collect', '--wait', '--pty', '--service-type=exec', '--property=KillMode=process'];
  return {
    program: 'systemd-run',
    args: [...how, `--unit=${unit}`, `--working-directory=${home()}`, ...env, '--', shell, '-l'],
  };
}

const home = (): string => userInfo().homedir;

function environment(shell: string): Record<string, string> {
  const { username } = userInfo();
  return {
    HOME: home(),
    USER: username,
    LOGNAME: username,
    SHELL: shell,
    PATH,
    TERM: 'xterm-256color',
    LANG: process.env.LANG ?? 'C.UTF-8',
  };
}

async function findShell(wanted: Shell | null): Promise<string> {
  const names = wanted ? [wanted] : SHELLS;
  const paths = names.flatMap((name) => FOLDERS.map((folder) => `${folder}/${name}`));
  const own = wanted ? null : userInfo().shell;
  for (const path of [...(own ? [own] : []), ...paths]) if (await isProgram(path)) return path;
  throw new RefusedStream(
    409,
    wanted ? text('This server has no {{shell}}', { shell: wanted }) : text('This server has no shell'),
  );
}

async function isProgram(path: string): Promise<boolean> {
  if (/\/(?:nologin|false)$/.test(path)) return false;
  try {
    await access(path, constants.X_OK);
    return true;
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT', 'EACCES', 'ENOTDIR')) return false;
    throw error;
  }
}

async function hasSystemd(): Promise<boolean> {
  try {
    await access('/run/systemd/system');
    return true;
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return false;
    throw error;
  }
}

/** The shell in a unit, once it runs; null: it has ended already. */
async function markOfUnit(unit: string): Promise<ProcessMark | null> {
  const never = new AbortController().signal;
  for (let tries = 0; tries < MAIN_PID_TRIES; tries += 1) {
    const { stdout } = await run('systemctl', ['show', '--property=MainPID', '--value', unit], { timeout: 10_000 });
    const pid = Number(stdout.trim());
    if (pid > 0) return markOf(pid, unit);
    await sleep(MAIN_PID_POLL_MS, never);
  }
  return null;
}

function duplexOf(pty: IPty): Duplex {
  const duplex = new Duplex({
    read: () => pty.resume(),
    write(chunk: Buffer, _, done) {
      // It takes bytes too, which its types do not say.
      pty.write(chunk as unknown as string);
      done();
    },
    destroy(error, done) {
      pty.resume();
      done(error);
    },
  });
  pty.onData((data) => {
    // Bytes, as no encoding is set.
    if (!duplex.destroyed && !duplex.push(data as unknown as Buffer)) pty.pause();
  });
  pty.onExit(() => {
    if (!duplex.destroyed) duplex.push(null);
  });
  return duplex;
}
