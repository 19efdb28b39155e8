import { crashPoint } from '@stagi/contract/crashPoints.ts';
import type { DaemonMessage } from '@stagi/contract/daemon.ts';
import type { DesiredContainer, DesiredState } from '@stagi/contract/desiredState.ts';
import type { HostConfig } from '@stagi/contract/hostConfig.ts';
import type { ContainerRecords } from './containerRecords.ts';
import { graceOf } from './containerSpec.ts';
import type { Engine } from './docker.ts';
import { CredentialError, DockerError } from './dockerErrors.ts';
import { errorText, log } from './log.ts';
import { bootId } from './machine.ts';
import { type ContainerPlan, plan, type SeenContainer, type Step } from './plan.ts';
import type { PullAuth } from './pullAuths.ts';
import type { PullProgress } from './pullProgress.ts';
import { isPermanent, messageOf } from './stepErrors.ts';
import type { TaskContainer, TaskFiles } from './taskFiles.ts';
import { backoffMs } from './timing.ts';

const RETRY_BACKOFF_CAP_MS = 300_000;
const LOG_DRAIN_TIMEOUT_MS = 2000;
/** The log goes on after a recreation: its lines should not have a gap there. */
const LOG_DRAIN_BEFORE_RECREATION_MS = 15_000;
/** Docker's log cannot be read while the output is. */
const LOG_DRAIN_BEFORE_SAVE_MS = 15_000;

export interface ApplyDeps {
  engine: Engine;
  records: ContainerRecords;
  tasks: TaskFiles;
  /** Returns what the container may do; throws PolicyError when this server does not allow it. */
  authorizeContainer(target: DesiredContainer): Promise<HostConfig>;
  /** As `authorizeContainer`, and binds its directories to the folders that are named in what it returns. */
  bindVolumes(target: DesiredContainer): Promise<HostConfig>;
  /** Gives the directories that were made for it to the user whom it runs as. */
  giveNewVolumes(target: DesiredContainer, dockerId: string): Promise<void>;
  releaseVolumes(containerId: number): Promise<void>;
  /** What to log in to the registry of its image with. */
  pullAuth(target: DesiredContainer): Promise<PullAuth>;
  /** To the platform, when it can be reached. */
  report(message: Extract<DaemonMessage, { type: 'progress' | 'failed' }>): void;
  /** Asks for another pass, as a container has changed. */
  wake(): void;
  onCreated(containerId: number, dockerId: string): void;
  onChanged(dockerId: string): void;
  /** Resolves when the whole log of a stopped container was sent, or after `ms`. */
  drainLog(dockerId: string, ms: number): Promise<void>;
}

/** Carries out plans: the steps of one container in sequence, different containers in parallel. */
export interface Applier {
  /**
   * Starts the steps that `desired` needs, except for containers that are busy or wait for a retry. Returns at once.
   * `seenAt` is when the listing began, by `performance.now()`: containers changed since then are skipped, as the
   * listing is stale for them.
   */
  advance(desired: DesiredState, seen: readonly SeenContainer[], seenAt: number): void;
  /** Runs `work` while no step of this container runs. Its signal is aborted when a newer generation than `gen` came. */
  runExclusively<T>(containerId: number, gen: number, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** Failures that still apply, for a platform that may have missed their report. */
  openFailures(desired: DesiredState): Extract<DaemonMessage, { type: 'failed' }>[];
  /** Starts no further steps and waits for the running ones. */
  close(): Promise<void>;
}

interface Retry {
  gen: number;
  attempts: number;
  timer: NodeJS.Timeout;
  due: boolean;
  /** When the next attempt is due, by `performance.now()`. */
  dueAt: number;
  failure: Extract<DaemonMessage, { type: 'failed' }>;
}

export function createApplier(deps: ApplyDeps): Applier {
  const busy = new Map<number, { gen: number; done: Promise<void>; outdated: AbortController }>();
  const retries = new Map<number, Retry>();
  const changedAt = new Map<number, number>();
  let closed = false;

  function advance(desired: DesiredState, seen: readonly SeenContainer[], seenAt: number): void {
    const gens = new Map(desired.containers.map(({ id, gen }) => [id, gen]));
    for (const [id, running] of busy) {
      if (running.gen < (gens.get(id) ?? Number.MAX_SAFE_INTEGER))
        running.outdated.abort(new Error('a newer desired state came'));
    }
    for (const id of retries.keys()) if (!gens.has(id)) cancelRetry(id);
    for (const step of plan(desired.containers, seen, deps.records)) {
      const stale = (changedAt.get(step.target.id) ?? 0) >= seenAt;
      if (!closed && !stale && !busy.has(step.target.id) && isDue(step.target)) startSteps(step);
    }
  }

  function isDue({ id, gen }: DesiredContainer): boolean {
    if (deps.records.failure(id, gen)) return false;
    const retry = retries.get(id);
    return !retry || retry.gen !== gen || retry.due;
  }

  function startSteps(todo: ContainerPlan): void {
    const outdated = new AbortController();
    lockContainer(todo.target.id, todo.target.gen, outdated, async () => {
      try {
        await runSteps(deps, todo, outdated.signal);
        cancelRetry(todo.target.id);
      } catch (error) {
        if (!outdated.signal.aborted) await handleFailure(todo, error);
      }
    }).catch((error: unknown) => log(`container ${todo.target.slug}: ${errorText(error)}`));
  }

  function lockContainer<T>(id: number, gen: number, outdated: AbortController, work: () => Promise<T>): Promise<T> {
    const result = work();
    const done = result.then(
      () => {},
      // The caller of `runExclusively` gets the error; steps report their own.
      () => {},
    );
    const entry = { gen, outdated, done };
    busy.set(id, entry);
    void done.then(() => {
      busy.delete(id);
      changedAt.set(id, performance.now());
      deps.wake();
    });
    return result;
  }

  async function handleFailure({ target, steps }: ContainerPlan, error: unknown): Promise<void> {
    const phase = error instanceof StepError ? error.step : (steps[0] ?? 'create');
    const cause = error instanceof StepError ? error.cause : error;
    const permanent = isPermanent(cause);
    const message = messageOf(cause);
    log(`container ${target.slug}: ${phase} failed${permanent ? '' : ', to be tried again'}: ${errorText(cause)}`);
    const waitsFor = cause instanceof CredentialError ? ({ waitsFor: 'credential' } as const) : {};
    const about = { gen: target.gen, phase, message, ...waitsFor };
    const failure = { type: 'failed', containerId: target.id, permanent, ...about } as const;
    if (!permanent) {
      deps.report(reportOf(scheduleRetry(target, failure)));
      return;
    }
    deps.report(failure);
    cancelRetry(target.id);
    await deps.records.fail(target.id, about);
  }

  function scheduleRetry({ id, gen }: DesiredContainer, failure: Retry['failure']): Retry {
    const before = retries.get(id);
    const attempts = before?.gen === gen ? before.attempts + 1 : 0;
    cancelRetry(id);
    const waitMs = backoffMs(attempts, RETRY_BACKOFF_CAP_MS);
    const timer = setTimeout(() => {
      retry.due = true;
      deps.wake();
    }, waitMs);
    const retry: Retry = { gen, attempts, timer, due: false, dueAt: performance.now() + waitMs, failure };
    retries.set(id, retry);
    return retry;
  }

  function cancelRetry(id: number): void {
    clearTimeout(retries.get(id)?.timer);
    retries.delete(id);
  }

  return {
    advance,
    async runExclusively(id, gen, work) {
      for (let other = busy.get(id); other; other = busy.get(id)) await other.done;
      const outdated = new AbortController();
      return lockContainer(id, gen, outdated, () => work(outdated.signal));
    },
    openFailures(desired) {
      return desired.containers.flatMap(({ id, gen }) => {
        const permanent = deps.records.failure(id, gen);
        if (permanent) return [{ type: 'failed', containerId: id, permanent: true, ...permanent } as const];
        const retry = retries.get(id);
        return retry?.gen === gen ? [reportOf(retry)] : [];
      });
    },
    async close() {
      closed = true;
      for (const id of retries.keys()) cancelRetry(id);
      for (const { outdated } of busy.values()) outdated.abort(new Error('the daemon stops'));
      await Promise.all([...busy.values()].map(({ done }) => done));
    },
  };
}

function reportOf({ failure, attempts, dueAt }: Retry): Retry['failure'] {
  return { ...failure, attempt: attempts + 1, retryInMs: Math.max(0, Math.round(dueAt - performance.now())) };
}

class StepError extends Error {
  readonly step: Step;
  constructor(step: Step, cause: unknown) {
    super(`${step} failed`, { cause });
    this.step = step;
  }
}

const PHASES = {
  /** Reported only when there is something to pull. */
  pull: null,
  create: 'creating',
  prepare: 'preparing',
  start: 'starting',
  pause: null,
  unpause: null,
  stop: 'stopping',
  save: 'saving',
  remove: 'removing',
} as const;
type Phase = NonNullable<(typeof PHASES)[Step]> | 'pulling';

async function runSteps(deps: ApplyDeps, { target, seen, steps }: ContainerPlan, outdated: AbortSignal): Promise<void> {
  let dockerId = seen?.dockerId ?? null;
  let startedBefore = seen?.startedAt ?? null;
  for (const step of steps) {
    const phase = PHASES[step];
    if (phase) deps.report(progressOf(target, phase));
    crashPoint(`daemon.${step}.begun`);
    try {
      switch (step) {
        case 'pull':
          await pullBeforeRecreation(deps, target, outdated);
          break;
        case 'create':
          dockerId = await create(deps, target, outdated);
          startedBefore = null;
          break;
        case 'start':
          if (dockerId) await start(deps, target, dockerId, startedBefore);
          break;
        case 'prepare':
          if (dockerId && isTask(target)) await deps.tasks.prepare(target, dockerId, outdated);
          break;
        case 'pause':
          if (dockerId) await deps.engine.pause(dockerId);
          break;
        case 'unpause':
          if (dockerId) await deps.engine.unpause(dockerId);
          break;
        case 'save':
          if (seen && isTask(target)) await save(deps, target, seen, outdated);
          break;
        case 'stop':
          if (dockerId) await deps.engine.stop(dockerId, { graceSeconds: graceOf(target), signal: outdated });
          break;
        case 'remove':
          if (dockerId)
            await remove(
              deps,
              target.id,
              dockerId,
              steps.includes('create') ? LOG_DRAIN_BEFORE_RECREATION_MS : LOG_DRAIN_TIMEOUT_MS,
            );
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

/** What can be refused is refused here, while the old container is still there. */
async function pullBeforeRecreation(deps: ApplyDeps, target: DesiredContainer, outdated: AbortSignal): Promise<void> {
  try {
    await deps.authorizeContainer(target);
  } catch (error) {
    throw new StepError('create', error);
  }
  if (!(await deps.engine.hasImage(target.spec.image))) await pull(deps, target, outdated);
}

async function create(deps: ApplyDeps, target: DesiredContainer, outdated: AbortSignal): Promise<string> {
  const hostConfig = await deps.bindVolumes(target);
  // Before it exists: a daemon that is killed must not find a new container with the record of an earlier one.
  if (isTask(target)) await deps.tasks.reset(target);
  let made = await deps.engine.create(target, hostConfig);
  if (made === 'image missing') {
    await pull(deps, target, outdated);
    deps.report(progressOf(target, 'creating'));
    made = await deps.engine.create(target, hostConfig);
  }
  if (made === 'image missing') throw new DockerError(`${target.spec.image} was pulled and is gone again`, false);
  await deps.giveNewVolumes(target, made.dockerId);
  deps.onCreated(target.id, made.dockerId);
  return made.dockerId;
}

async function pull(deps: ApplyDeps, target: DesiredContainer, outdated: AbortSignal): Promise<void> {
  let reportedAt = 0;
  let newest: PullProgress | null = null;
  const report = (progress: PullProgress) => deps.report({ ...progressOf(target, 'pulling'), ...progress });
  deps.report({ ...progressOf(target, 'pulling'), detail: target.spec.image });
  try {
    await deps.engine.pull(
      target.spec.image,
      await deps.pullAuth(target),
      (progress) => {
        newest = progress;
        // Docker speaks up many times a second and layer.
        if (performance.now() - reportedAt < 500) return;
        reportedAt = performance.now();
        report(progress);
      },
      outdated,
    );
    if (newest) report(newest);
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
  await deps.bindVolumes(target);
  if (target.task) {
    // A container with its name, which ran already, may have been adopted.
    if ((await deps.engine.inspect(dockerId))?.startedAt) return;
    await deps.records.changeTask(target.id, { bootId: await bootId() });
  }
  await deps.records.aboutToStart(target.id, target.gen, startedBefore);
  await deps.engine.start(dockerId, target.spec.image);
  crashPoint('daemon.start.called');
  await deps.records.started(target.id, target.gen);
}

async function remove(deps: ApplyDeps, id: number, dockerId: string, drainMs: number): Promise<void> {
  await deps.drainLog(dockerId, drainMs);
  await deps.engine.remove(dockerId);
  await deps.releaseVolumes(id);
}

async function save(deps: ApplyDeps, target: TaskContainer, seen: SeenContainer, outdated: AbortSignal): Promise<void> {
  await deps.drainLog(seen.dockerId, LOG_DRAIN_BEFORE_SAVE_MS);
  await deps.tasks.save(target, seen, outdated);
}

function isTask(target: DesiredContainer): target is TaskContainer {
  return target.task !== undefined;
}

function progressOf(target: DesiredContainer, phase: Phase) {
  return { type: 'progress', containerId: target.id, gen: target.gen, phase, detail: null, fraction: null } as const;
}
