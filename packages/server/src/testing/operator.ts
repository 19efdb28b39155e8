import { execFile } from 'node:child_process';
import { join } from 'node:path';

const SCRIPT = join(import.meta.dirname, '../../../../scripts/operator.ts');
const MAX_OUTPUT_BYTES = 10_000_000;

export interface RanOperator {
  /** Its exit code, or the signal that ended it. */
  code: number | NodeJS.Signals;
  /** Its output and its errors. */
  out: string;
}

/** Runs a command as somebody does at the machine of the platform that `settings` configure. */
export const runOperator = (settings: Record<string, string>, ...args: string[]): Promise<RanOperator> =>
  spawnOperator(settings, ...args).ended;

export function spawnOperator(
  settings: Record<string, string>,
  ...args: string[]
): { ended: Promise<RanOperator>; kill(): void } {
  const { promise: ended, resolve } = Promise.withResolvers<RanOperator>();
  const options = { env: { ...process.env, ...settings }, maxBuffer: MAX_OUTPUT_BYTES };
  const child = execFile(process.execPath, [SCRIPT, ...args], options, (_, stdout, stderr) =>
    resolve({ code: child.exitCode ?? child.signalCode ?? 'SIGKILL', out: stdout + stderr }),
  );
  return { ended, kill: () => void child.kill('SIGKILL') };
}
