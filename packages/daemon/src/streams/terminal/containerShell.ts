import { NO_SHELL, SHELLS, type Shell } from '@stagi/contract/terminals.ts';
import { text } from '@stagi/contract/text.ts';
import type { ExecEngine } from '../../dockerExec.ts';
import { errorText } from '../../log.ts';
import { sleep } from '../../timing.ts';
import { RefusedStream } from '../streamServer.ts';
import { endTerminal, markOf, type ProcessMark } from './processes.ts';
import type { ShellProcess } from './shellProcess.ts';
import type { TerminalRecord } from './terminalRecords.ts';

const PID_TRIES = 40;
const PID_POLL_MS = 50;

/** Writes down how it can be ended after a crash of the daemon. */
export type Remember = (record: Omit<TerminalRecord, 'bootId'>) => Promise<void>;

/** Starts a shell in a running container. Throws RefusedStream when its image has none. */
export async function containerShell(
  engine: ExecEngine,
  dockerId: string,
  wanted: Shell | null,
  remember: Remember,
): Promise<ShellProcess> {
  const shell = await findShell(engine, dockerId, wanted);
  const exec = await engine.execTerminal(dockerId, [shell]);
  const record = { execId: exec.execId, cgroup: dockerId };
  await remember({ ...record, mark: null });
  const terminal = await exec.start();
  const mark = await markOfExec(engine, exec.execId, dockerId);
  await remember({ ...record, mark });
  return {
    shell,
    terminal,
    resize: exec.resize,
    async exitCode() {
      const state = await engine.execState(exec.execId);
      return state?.isRunning === false ? state.exitCode : null;
    },
    async kill() {
      if (mark) await endTerminal(mark);
    },
  };
}

async function findShell(engine: ExecEngine, dockerId: string, wanted: Shell | null): Promise<Shell> {
  for (const shell of wanted ? [wanted] : SHELLS) {
    const code = await probe(engine, dockerId, shell);
    if (code === 0) return shell;
  }
  throw new RefusedStream(409, wanted ? text('This image has no {{shell}}', { shell: wanted }) : NO_SHELL);
}

async function probe(engine: ExecEngine, dockerId: string, shell: Shell): Promise<number | null> {
  try {
    return await engine.execProbe(dockerId, [shell, '-c', 'exit 0']);
  } catch (error) {
    throw new RefusedStream(409, text('No shell can be started: {{reason}}', { reason: errorText(error) }));
  }
}

/** The process of a program with a terminal, once it runs and if it is in that container. Null: it has ended already. */
export async function markOfExec(engine: ExecEngine, execId: string, dockerId: string): Promise<ProcessMark | null> {
  const never = new AbortController().signal;
  for (let tries = 0; tries < PID_TRIES; tries += 1) {
    const state = await engine.execState(execId);
    if (!state) return null;
    if (state.isRunning && state.pid > 0) return markOf(state.pid, dockerId);
    if (!state.isRunning && state.exitCode !== null) return null;
    await sleep(PID_POLL_MS, never);
  }
  throw new Error('Docker does not tell the process of a terminal');
}
