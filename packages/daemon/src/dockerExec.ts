import type { Duplex } from 'node:stream';
import type { TerminalSize } from '@stagi/contract/terminals.ts';
import type Docker from 'dockerode';
import { statusOf, toDockerError } from './dockerErrors.ts';
import { withTimeout } from './timing.ts';

const EXEC_TIMEOUT_MS = 15_000;

/** Programs in running containers, beside the container's own. */
export interface ExecEngine {
  /** Runs a program to its end and returns its exit code; null when it is not in the container. */
  execProbe(dockerId: string, command: readonly string[]): Promise<number | null>;
  /** Prepares a program with a terminal; `start` runs it. */
  execTerminal(dockerId: string, command: readonly string[]): Promise<ExecTerminal>;
  /** What became of a program with a terminal; null when Docker does not know it any more. */
  execState(execId: string): Promise<ExecState | null>;
}

export interface ExecTerminal {
  execId: string;
  /** Input and output. Docker leaves the program running when it is closed. */
  start(): Promise<Duplex>;
  resize(size: TerminalSize): Promise<void>;
}

export interface ExecState {
  isRunning: boolean;
  /** As the server numbers it; 0 before it runs. */
  pid: number;
  exitCode: number | null;
}

/** Exit codes by which runc says that there is no such program, or that it cannot be run. */
const NOT_FOUND = [126, 127];

/** Docker has `timeoutMs` for each answer. */
export function execEngine(docker: Docker, timeoutMs = EXEC_TIMEOUT_MS): ExecEngine {
  const call = async <T>(doing: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    try {
      return await withTimeout(timeoutMs, doing, work);
    } catch (error) {
      throw toDockerError(error, '');
    }
  };
  const create = (dockerId: string, options: Docker.ExecCreateOptions): Promise<Docker.Exec> =>
    call('preparing a program', (abortSignal) =>
      docker.getContainer(dockerId).exec({ AttachStdout: true, AttachStderr: true, ...options, abortSignal }),
    );
  const stateOf = async (exec: Docker.Exec): Promise<ExecState> => {
    const { Running, Pid, ExitCode } = await call('asking for a program', (abortSignal) =>
      exec.inspect({ abortSignal }),
    );
    return { isRunning: Running, pid: Pid, exitCode: ExitCode };
  };
  return {
    async execProbe(dockerId, command) {
      const exec = await create(dockerId, { Cmd: [...command] });
      try {
        const output = await call('running a program', (abortSignal) => exec.start({ abortSignal }));
        await withTimeout(timeoutMs, 'running a program', async () => {
          for await (const _ of output) {
            // It has ended when its output ends.
          }
        });
      } catch (error) {
        if (isNotFound(error)) return null;
        throw error;
      }
      const { exitCode } = await stateOf(exec);
      return exitCode !== null && NOT_FOUND.includes(exitCode) ? null : exitCode;
    },

    async execTerminal(dockerId, command) {
      const { Config } = await call('inspecting a container', (abortSignal) =>
        docker.getContainer(dockerId).inspect({ abortSignal }),
      );
      const exec = await create(dockerId, {
        Cmd: [...command],
        AttachStdin: true,
        Tty: true,
        Env: environment(Config.Env ?? []),
      });
      return {
        execId: exec.id,
        start: () =>
          call('opening a terminal', (abortSignal) =>
            exec.start({ hijack: true, stdin: true, Tty: true, abortSignal }),
          ),
        // Docker waits for the start by itself.
        resize: ({ cols, rows }) =>
          call('resizing a terminal', (abortSignal) => exec.resize({ h: rows, w: cols, abortSignal })),
      };
    },

    async execState(execId) {
      try {
        return await stateOf(docker.getExec(execId));
      } catch (error) {
        if (statusOf((error as Error).cause) === 404) return null;
        throw error;
      }
    },
  };
}

/** Programs print UTF-8, unless the container chose something else. */
function environment(own: readonly string[]): string[] {
  const hasLocale = own.some((variable) => /^(?:LANG|LC_ALL)=/.test(variable));
  return ['TERM=xterm-256color', ...(hasLocale ? [] : ['LANG=C.UTF-8'])];
}

function isNotFound(error: unknown): boolean {
  return /executable file not found|no such file or directory|permission denied/i.test(
    String((error as Error).cause ?? error),
  );
}
