import { constants } from 'node:os';
import type Docker from 'dockerode';
import { statusOf } from './dockerErrors.ts';
import { errorText } from './log.ts';
import { type ProgramStop, stopPrograms } from './stopPrograms.ts';
import { withTimeout } from './timing.ts';

const QUERY_TIMEOUT_MS = 15_000;

/**
 * Has Docker stop or restart a container (`call`), while its programs get the stop signal (`stopPrograms.ts`). Resolves
 * once Docker has; rejects with the signal's reason when aborted. Then Docker goes on with the stop.
 */
export async function stopGently(
  docker: Docker,
  dockerId: string,
  call: () => Promise<unknown>,
  signal: AbortSignal,
): Promise<void> {
  const programs = await programsOf(docker, dockerId);
  if (!programs || !(await programs.hold())) return withAbort(call(), signal);
  const over = new AbortController();
  try {
    const stopped = call();
    const followed = programs.follow(AbortSignal.any([signal, over.signal])).then(async (how) => {
      if (how === 'kill') await kill(docker, dockerId);
    });
    await withAbort(Promise.all([stopped, followed]), signal);
  } catch (error) {
    if (!signal.aborted) await programs.release();
    throw error;
  } finally {
    over.abort();
  }
}

/** Null: it does not run, or has a signal that only Docker knows. */
async function programsOf(docker: Docker, dockerId: string): Promise<ProgramStop | null> {
  const container = docker.getContainer(dockerId);
  try {
    const { State, Config, Id } = await withTimeout(QUERY_TIMEOUT_MS, 'inspecting a container', (abortSignal) =>
      container.inspect({ abortSignal }),
    );
    if (!State.Running || State.Pid === 0) return null;
    if (State.Paused) await resume(container);
    const signal = signalOf((Config as { StopSignal?: string }).StopSignal);
    return signal && stopPrograms({ dockerId: Id, pid: State.Pid, signal });
  } catch (error) {
    if (statusOf(error) === 404) return null;
    throw error;
  }
}

/** Docker shows one as paused for a moment longer than it is, and then says that it is not. */
async function resume(container: Docker.Container): Promise<void> {
  try {
    await withTimeout(QUERY_TIMEOUT_MS, 'resuming the container', () => container.unpause());
  } catch (error) {
    if (!/is not paused/.test(errorText(error))) throw error;
  }
}

/** Images name it `SIGTERM`, `TERM` or by a number; `SIGRTMIN+3` has no number of its own. */
function signalOf(named = 'SIGTERM'): NodeJS.Signals | null {
  const known = Object.entries(constants.signals);
  const upper = named.toUpperCase();
  const found = known.find(([name, number]) => name === upper || name === `SIG${upper}` || String(number) === named);
  return (found?.[0] as NodeJS.Signals | undefined) ?? null;
}

/** It may have ended meanwhile. */
async function kill(docker: Docker, dockerId: string): Promise<void> {
  try {
    await withTimeout(QUERY_TIMEOUT_MS, 'ending the container', () => docker.getContainer(dockerId).kill());
  } catch (error) {
    if (statusOf(error) !== 404 && statusOf(error) !== 409) throw error;
  }
}

async function withAbort(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
