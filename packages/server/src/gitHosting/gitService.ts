import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { gitEnv, yieldToOthers } from '../git/run.ts';
import { fsckSettings } from './fsckSettings.ts';
import { type Proposal, readHook } from './proposal.ts';

export type Service = 'git-upload-pack' | 'git-receive-pack';

/** The platform's own hooks; those of a repository never run. */
const HOOKS = join(import.meta.dirname, 'hooks');

/** Versions of the wire protocol that a client may ask for. */
const PROTOCOL = /^version=[0-2](:version=[0-2]){0,3}$/;

const isProtocol = (asked: string | undefined): asked is string => asked !== undefined && PROTOCOL.test(asked);

/** True if git answers a client that asked for this in version 2: it takes the highest. */
export const isVersion2 = (asked: string | undefined): boolean => isProtocol(asked) && asked.includes('version=2');

/**
 * A push is checked and recorded by the platform, not by hooks; so deleting `main` is decided there too. Given to each
 * push, so that repositories of any age follow them.
 */
const PUSH_SETTINGS = [
  ['core.hooksPath', HOOKS],
  ['receive.denyDeleteCurrent', 'ignore'],
  ['receive.advertisePushOptions', 'false'],
  ...fsckSettings('receive.fsck'),
];

export interface Verdict {
  /** False: nothing of the push. */
  accepted: boolean;
  /** The refs of an accepted push that stay as they are. */
  refused?: ReadonlySet<string>;
  /** Printed by the client's git as `remote: …`. */
  messages: readonly string[];
}

export interface GitProcess {
  stdin: Writable;
  stdout: Readable;
  stderr: Readable;
  /** The exit code, or null when a signal ended it. Never rejects: a git that cannot be started ends with 127. */
  ended: Promise<number | null>;
  /** Ends git and every process that it started. */
  kill(): void;
}

export interface GitProcessOptions {
  /** The folder of the repository. */
  dir: string;
  service: Service;
  /** `--stateless-rpc` and the like. */
  options: readonly string[];
  /** What the client asked for as wire protocol; ignored unless it is one. */
  protocol: string | undefined;
  /** Decides on what a push proposes; its objects are in quarantine until then. */
  decide?: (proposal: Proposal) => Promise<Verdict>;
}

/** Starts the process that speaks git's wire protocol with a client. */
export function startGitProcess({ dir, service, options, protocol, decide }: GitProcessOptions): GitProcess {
  const settings = decide ? PUSH_SETTINGS.flatMap(([key, value]) => ['-c', `${key}=${value}`]) : [];
  const child = spawn('git', [...settings, service.slice('git-'.length), ...options, '.'], {
    cwd: dir,
    env: gitEnv({ ...(isProtocol(protocol) && { GIT_PROTOCOL: protocol }) }),
    // A group of its own: killing it also ends what git itself started.
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', ...(decide ? (['pipe', 'pipe'] as const) : [])],
  });
  yieldToOthers(child);
  const [stdin, stdout, stderr] = child.stdio as unknown as [Writable, Readable, Readable];
  if (decide) answerHook(child, decide);
  const ended = new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(127));
    child.once('close', (code) => resolve(code));
  });
  return { stdin, stdout, stderr, ended, kill: () => killGroup(child) };
}

function answerHook(child: ChildProcess, decide: (proposal: Proposal) => Promise<Verdict>): void {
  const [, , , asked, answer] = child.stdio as [unknown, unknown, unknown, Readable, Writable];
  // The hook may be killed while it waits; without an answer it refuses.
  answer.on('error', () => {});
  asked.on('error', () => {});
  void answerAll().finally(() => answer.end());

  async function answerAll(): Promise<void> {
    const hook = readHook(asked);
    const proposal = await hook.proposal();
    if (!proposal) return;
    const { accepted, refused, messages } = await decide(proposal);
    const lines = messages.flatMap((message) => message.split('\n')).map((line) => `> ${line}\n`);
    answer.write(`${lines.join('')}${accepted ? 'accept' : 'refuse'}\n`);
    if (!accepted) return;
    for await (const ref of hook.refs()) answer.write(refused?.has(ref) ? 'refuse\n' : 'accept\n');
  }
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch (error) {
    // It has just ended.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
