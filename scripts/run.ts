import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '..');
export const CACHE = join(ROOT, '.cache');
/** Where test runners write their reports. */
export const REPORTS = process.env.TEST_REPORTS ?? CACHE;

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const running = new Set<ChildProcess>();
const stopping = new AbortController();
let asked: NodeJS.Signals | undefined;

/** Aborts when this script is asked to end. */
export const stopAsked = stopping.signal;

/** The signal that asked this script to end. Scripts look between their steps, clean up and leave with `exitCodeOf` it. */
export const stopSignal = () => asked;

export const exitCodeOf = (signal: NodeJS.Signals) => 128 + constants.signals[signal];

/**
 * Until the answered function is called, signals and the death of the bootstrap end what `run` has started, not this; a
 * second one ends this process at once.
 */
export function listenForStop() {
  const onDisconnect = () => stop('SIGTERM');
  for (const signal of SIGNALS) process.on(signal, stop);
  process.once('disconnect', onDisconnect);
  process.channel?.unref();
  return () => {
    for (const signal of SIGNALS) process.off(signal, stop);
    process.off('disconnect', onDisconnect);
  };
}

/** As if `signal` had come from outside. */
export function stop(signal: NodeJS.Signals): void {
  if (asked) process.exit(exitCodeOf(signal));
  asked = signal;
  stopping.abort();
  for (const child of running) child.kill(signal);
}

/** Runs a program to its end and answers its exit code; not started at all once the script was asked to end. */
export async function run(command: string, args: string[], options: SpawnOptions = {}): Promise<number> {
  if (asked) return exitCodeOf(asked);
  const child = spawn(command, args, { cwd: ROOT, stdio: 'inherit', ...options });
  running.add(child);
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    return code ?? exitCodeOf(signal ?? 'SIGKILL');
  } finally {
    running.delete(child);
  }
}

/** As `run`, with the output kept instead of shown. */
export async function runQuietly(command: string, args: string[], options: SpawnOptions = {}) {
  if (asked) return { code: exitCodeOf(asked), output: '' };
  const child = spawn(command, args, { cwd: ROOT, ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  const chunks: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => chunks.push(chunk));
  try {
    const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
    return { code: code ?? exitCodeOf(signal ?? 'SIGKILL'), output: Buffer.concat(chunks).toString() };
  } finally {
    running.delete(child);
  }
}
