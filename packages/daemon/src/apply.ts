import { crashPoint } from '@stagi/contract/crashPoints.ts';
import type { DaemonMessage, DesiredContainer, DesiredState } from '@stagi/contract/daemon.ts';
import type { HostConfig } from '@stagi/contract/hostConfig.ts';
import { backOff } from './deadline.ts';
import type { Engine } from './docker.ts';
import { DockerProblem } from './dockerErrors.ts';
import { reasonOf, say } from './log.ts';
import type { Marks } from './marks.ts';
import { type ContainerPlan, plan, type SeenContainer, type Step } from './plan.ts';
import { PolicyError } from './policy.ts';

const RETRY_CAP_MS = 300_000;
const DRAIN_MS = 2000;

export interface ApplyDeps {
  engine: Engine;
  marks: Marks;
  /** Answers what the container may do; throws PolicyError when it is forbidden here. */
  admit(target: DesiredContainer): Promise<HostConfig>;
  /** To the platform, when it can be reached. */
  report(message: Extract<DaemonMessage, { type: 'progress' | 'failed' }>): void;
  /** Something about a container has changed: look again soon. */
  wake(): void;
  onCreated(containerId: number, dockerId: string): void;
  onChanged(dockerId: string): void;
  /** Resolves when the log of a stopped container was sent, or after `ms`. */
  drained(dockerId: string, ms: number): Promise<void>;
}

/** Carries plans out: one container's steps one after another, different containers beside each other. */
export interface Applier {
  /**
   * Begins what `desired` needs and is not being done or waiting for its next try. Returns at once. `seenAt` is when
   * the listing began, by `performance.now()`: what was done to a container since then is not in it.
   */
  advance(desired: DesiredState, seen: readonly SeenContainer[], seenAt: number): void;
  /** Runs `work` while no step of this container runs. */
  alone<T>(containerId: number, work: () => Promise<T>): Promise<T>;
  /** Failures that still stand, for a platform that may not have heard them. */
  standing(desired: DesiredState): Extract<DaemonMessage, { type: 'failed' }>[];
  /** Lets running steps end; none is begun any more. */
  close(): Promise<void>;
}

interface Retry {
  gen: number;
  attempts: number;
  timer: NodeJS.Timeout;
  due: boolean;
  failure: Extract<DaemonMessage, { type: 'failed' }>;
}

export function applier(deps: ApplyDeps): Applier {
  const busy = new Map<number, { gen: number; done: Promise<void>; outdated: AbortController }>();
  const retries = new Map<number, Retry>();
  const touched = new Map<number, number>();
  let closed = false;

  function advance(desired: DesiredState, seen: readonly SeenContainer[], seenAt: number): void {
    for (const target of desired.containers) {
      const running = busy.get(target.id);
      if (running && running.gen < target.gen) running.outdated.abort(new Error('a newer desired state came'));
    }
    for (const step of plan(desired.containers, seen, deps.marks.endedGen)) {
      const stale = (touched.get(step.target.id) ?? 0) >= seenAt;
      if (!closed && !stale && !busy.has(step.target.id) && isDue(step.target)) begin(step);
    }
  }

  function isDue({ id, gen }: DesiredContainer): boolean {
    if (deps.marks.failure(id, gen)) return false;
    const retry = retries.get(id);
    return !retry || retry.gen !== gen || retry.due;
  }

  function begin(todo: ContainerPlan): void {
    const outdated = new AbortController();
    hold(todo.target.id, todo.target.gen, outdated, async () => {
      try {
        await carryOut(deps, todo, outdated.signal);
        forgetRetry(todo.target.id);
      } catch (error) {
        if (!outdated.signal.aborted) await failed(todo, error);
      }
    }).catch((error: unknown) => say(`container ${todo.target.slug}: ${reasonOf(error)}`));
  }

  function hold<T>(id: number, gen: number, outdated: AbortController, work: () => Promise<T>): Promise<T> {
    const result = work();
    const done = result.then(
      () => {},
      // The caller of `alone` gets it; steps report their own failures.
      () => {},
    );
    const entry = { gen, outdated, done };
    busy.set(id, entry);
    void done.then(() => {
      busy.delete(id);
      touched.set(id, performance.now());
      deps.wake();
    });
    return result;
  }

  async function failed({ target, steps }: ContainerPlan, error: unknown): Promise<void> {
    const phase = error instanceof StepError ? error.step : (steps[0] ?? 'create');
    const cause = error instanceof StepError ? error.cause : error;
    const permanent = cause instanceof PolicyError || (cause instanceof DockerProblem && cause.permanent);
    const message = reasonOf(cause instanceof DockerProblem ? new Error(cause.message) : cause);
    say(`container ${target.slug}: ${phase} failed${permanent ? '' : ', to be tried again'}: ${reasonOf(cause)}`);
    const failure = { type: 'failed', containerId: target.id, gen: target.gen, phase, message, permanent } as const;
    deps.report(failure);
    if (!permanent) return scheduleRetry(target, failure);
    forgetRetry(target.id);
    await deps.marks.fail(target.id, { gen: target.gen, phase, message });
  }

  function scheduleRetry({ id, gen }: DesiredContainer, failure: Retry['failure']): void {
    const before = retries.get(id);
    const attempts = before?.gen === gen ? before.attempts + 1 : 0;
    forgetRetry(id);
    const timer = setTimeout(
      () => {
        retry.due = true;
        deps.wake();
      },
      backOff(attempts, RETRY_CAP_MS),
    );
    const retry: Retry = { gen, attempts, timer, due: false, failure };
    retries.set(id, retry);
  }

  function forgetRetry(id: number): void {
    clearTimeout(retries.get(id)?.timer);
    retries.delete(id);
  }

  return {
    advance,
    async alone(id, work) {
      for (let other = busy.get(id); other; other = busy.get(id)) await other.done;
      return hold(id, Number.MAX_SAFE_INTEGER, new AbortController(), work);
    },
    standing(desired) {
      return desired.containers.flatMap(({ id, gen }) => {
        const lasting = deps.marks.failure(id, gen);
        if (lasting) return [{ type: 'failed', containerId: id, permanent: true, ...lasting } as const];
        const retry = retries.get(id);
        return retry?.gen === gen ? [retry.failure] : [];
      });
    },
    async close() {
      closed = true;
      for (const id of retries.keys()) forgetRetry(id);
      for (const { outdated } of busy.values()) outdated.abort(new Error('the daemon stops'));
      await Promise.all([...busy.values()].map(({ done }) => done));
    },
  };
}

class StepError extends Error {
  readonly step: Step | 'pull';
  constructor(step: Step | 'pull', cause: unknown) {
    super(`${step} failed`, { cause });
    this.step = step;
  }
}

const PHASES = { create: 'creating', start: 'starting', stop: 'stopping', remove: 'removing' } as const;

async function carryOut(deps: ApplyDeps, { target, seen, steps }: ContainerPlan, outdated: AbortSignal): Promise<void> {
  let dockerId = seen?.dockerId ?? null;
  let startedBefore = seen?.startedAt ?? null;
  for (const step of steps) {
    tell(deps, target, PHASES[step]);
    crashPoint(`daemon.${step}.begun`);
    try {
      switch (step) {
        case 'create':
          dockerId = await create(deps, target, outdated);
          startedBefore = null;
          break;
        case 'start':
          if (dockerId) await start(deps, target, dockerId, startedBefore);
          break;
        case 'stop':
          if (dockerId) await deps.engine.stop(dockerId);
          break;
        case 'remove':
          if (dockerId) await remove(deps, dockerId);
          break;
        default:
          step satisfies never;
      }
    } catch (error) {
      throw error instanceof StepError ? error : new StepError(step, error);
    }
    crashPoint(`daemon.${step}.done`);
    if (dockerId) deps.onChanged(dockerId);
    outdated.throwIfAborted();
  }
}

async function create(deps: ApplyDeps, target: DesiredContainer, outdated: AbortSignal): Promise<string> {
  const hostConfig = await deps.admit(target);
  let made = await deps.engine.create(target, hostConfig);
  if (made === 'image missing') {
    await pull(deps, target, outdated);
    tell(deps, target, 'creating');
    made = await deps.engine.create(target, hostConfig);
  }
  if (made === 'image missing') throw new DockerProblem(`${target.spec.image} was pulled and is gone again`, false);
  deps.onCreated(target.id, made.dockerId);
  return made.dockerId;
}

async function pull(deps: ApplyDeps, target: DesiredContainer, outdated: AbortSignal): Promise<void> {
  let toldAt = 0;
  deps.report({ ...progressOf(target, 'pulling'), detail: target.spec.image });
  try {
    await deps.engine.pull(
      target.spec.image,
      ({ fraction, detail }) => {
        // Docker speaks up many times a second and layer.
        if (performance.now() - toldAt < 500) return;
        toldAt = performance.now();
        deps.report({ ...progressOf(target, 'pulling'), detail, fraction });
      },
      outdated,
    );
  } catch (error) {
    throw new StepError('pull', error);
  }
}

async function start(
  deps: ApplyDeps,
  target: DesiredContainer,
  dockerId: string,
  startedBefore: string | null,
): Promise<void> {
  await deps.admit(target);
  await deps.marks.aboutToStart(target.id, target.gen, startedBefore);
  await deps.engine.start(dockerId, target.spec.image);
  await deps.marks.started(target.id, target.gen);
}

async function remove(deps: ApplyDeps, dockerId: string): Promise<void> {
  await deps.drained(dockerId, DRAIN_MS);
  await deps.engine.remove(dockerId);
}

function tell(deps: ApplyDeps, target: DesiredContainer, phase: (typeof PHASES)[Step]): void {
  deps.report(progressOf(target, phase));
}

function progressOf(target: DesiredContainer, phase: (typeof PHASES)[Step] | 'pulling') {
  return { type: 'progress', containerId: target.id, gen: target.gen, phase, detail: null, fraction: null } as const;
}
