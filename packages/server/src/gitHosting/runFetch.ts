import { spawn } from 'node:child_process';
import { gitEnv } from '../git/run.ts';

interface FetchOptions {
  signal: AbortSignal;
  onProgress?: (phase: { name: string; fraction: number | null }) => void;
}

const MAX_TEXT = 200_000;
const KEPT_STDERR = 8_000;
const PHASES: [RegExp, string][] = [
  [/^remote: (?:Enumerating|Counting|Compressing) objects/, 'preparing'],
  [/^Receiving objects/, 'receiving'],
  [/^Resolving deltas/, 'resolving'],
  [/^Checking (?:objects|connectivity)/, 'checking'],
];

/** Runs a git that talks to another server; it is killed, with all that it started, when `signal` is aborted. */
export function runFetch(
  dir: string | null,
  args: readonly string[],
  env: Record<string, string>,
  { signal, onProgress }: FetchOptions,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error);
    const child = spawn('git', args, {
      cwd: dir ?? '/',
      env: gitEnv({ ...(dir !== null && { GIT_DIR: dir }), ...env }),
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [stdout, stderr, line] = ['', '', ''];
    const kill = (): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch (error) {
        // It has just ended.
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
    };
    signal.addEventListener('abort', kill, { once: true });
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      if (stdout.length < MAX_TEXT) stdout += chunk;
    });
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      // Progress rewrites its line.
      const lines = (line + chunk).split(/[\r\n]/);
      line = (lines.pop() ?? '').slice(0, 1_000);
      for (const one of lines) note(one);
    });
    child.once('error', reject);
    child.once('close', (code) => {
      signal.removeEventListener('abort', kill);
      note(line);
      resolve({ code, stdout, stderr });
    });

    function note(text: string): void {
      const found = PHASES.find(([pattern]) => pattern.test(text));
      if (!found) stderr = `${stderr}${text}\n`.slice(-KEPT_STDERR);
      else {
        const percent = /:\s+(\d{1,3})%/.exec(text)?.[1];
        onProgress?.({ name: found[1], fraction: percent === undefined ? null : Number(percent) / 100 });
      }
    }
  });
}
