import type { ActualContainer } from '@stagi/contract/daemon.ts';
import type { DesiredContainer } from '@stagi/contract/desiredState.ts';
import { specNoOf } from './containerSpec.ts';

/** A container of ours as Docker shows it, with the generations from its labels and our records. */
export interface SeenContainer extends Omit<ActualContainer, 'gen'> {
  /** The generation it was created under. */
  createdGen: number;
  /** The highest generation whose start was carried out; 0: none. */
  begunGen: number;
  /** Its directories were bound since the server booted (`containerFolders.ts`). Absent: not known. */
  areVolumesBound?: boolean;
}

export type Step = 'pull' | 'create' | 'prepare' | 'start' | 'pause' | 'unpause' | 'stop' | 'save' | 'remove';

export interface ContainerPlan {
  target: DesiredContainer;
  seen: SeenContainer | null;
  /** To be done one after another; never empty. */
  steps: Step[];
}

/** What is known of containers that somebody has removed. */
export interface Past {
  /** The generation that it exited under; 0: none. */
  endedGen(id: number): number;
  /** Whether it was started, or may have been when the daemon crashed during the start. */
  hasBegun(id: number): boolean;
}

/**
 * The steps from the actual containers to the desired ones. Pure. Containers that are not desired are left alone. One
 * that exited under the generation that started it is not started again: that is for its restart policy. Nor is it
 * created again when somebody removed it after its exit. The run of a task is started at most once under any generation.
 * A container of another specification is recreated; its image is there before the old container is touched.
 */
export function plan(
  desired: readonly DesiredContainer[],
  seen: readonly SeenContainer[],
  past: Past,
): ContainerPlan[] {
  const byId = new Map(seen.map((container) => [container.id, container]));
  return desired.flatMap((target) => {
    const found = byId.get(target.id) ?? null;
    const steps = found === null && isOver(target, past) ? [] : stepsFor(target, found);
    return steps.length > 0 ? [{ target, seen: found, steps }] : [];
  });
}

/** Whether a container that is not there must not be created again. */
function isOver(target: DesiredContainer, past: Past): boolean {
  if (target.task) return past.hasBegun(target.id);
  return target.state === 'running' && past.endedGen(target.id) >= target.gen;
}

export function stepsFor(target: DesiredContainer, seen: SeenContainer | null): Step[] {
  if (seen?.state === 'removing') return [];
  switch (target.state) {
    case 'absent':
      if (!seen) return [];
      return isRunning(seen) ? ['stop', 'remove'] : ['remove'];
    case 'stopped':
      if (seen && isRunning(seen)) return ['stop'];
      if (target.task) return seen ? stepsAfterEnd(seen) : [];
      return seen && hasOtherSpec(target, seen) ? ['pull', 'remove', 'create'] : [];
    case 'running':
    case 'paused':
      return target.task ? stepsOfTask(target, seen) : stepsToRunning(target, seen);
    default:
      return target.state satisfies never;
  }
}

/** The generation that a container has reached: the desired one when no step is left, else the one before. */
export function reachedGen(target: DesiredContainer | undefined, seen: SeenContainer): number {
  if (target && stepsFor(target, seen).length === 0) return target.gen;
  return Math.max(seen.createdGen, seen.begunGen);
}

/** As `State.Running` of Docker: also while paused or restarting. */
export function isRunning(seen: Pick<SeenContainer, 'state'>): boolean {
  return seen.state === 'running' || seen.state === 'paused' || seen.state === 'restarting';
}

function stepsToRunning(target: DesiredContainer, seen: SeenContainer | null): Step[] {
  if (!seen) return ['create', 'start'];
  if (hasOtherSpec(target, seen)) {
    const stop: Step[] = isRunning(seen) ? ['stop'] : [];
    return ['pull', ...stop, 'remove', 'create', 'start'];
  }
  if (seen.state === 'dead') return ['remove', 'create', 'start'];
  if (isRunning(seen)) return [];
  const isEnded = seen.state === 'exited' && seen.begunGen >= target.gen;
  return isEnded && !isToStartAfterBoot(target, seen) ? [] : ['start'];
}

/** Docker cannot start it as its restart policy says, before its directories are bound anew. */
function isToStartAfterBoot({ spec }: DesiredContainer, seen: SeenContainer): boolean {
  if (seen.areVolumesBound !== false || spec.directories.length === 0) return false;
  if (!seen.protections?.includes('volumes')) return false;
  return spec.restartPolicy === 'on-failure' ? seen.exitCode !== 0 : spec.restartPolicy !== 'no';
}

function hasOtherSpec(target: DesiredContainer, seen: SeenContainer): boolean {
  return specNoOf(seen) !== specNoOf(target);
}

/** Docker itself tells whether it was started. */
function stepsOfTask(target: DesiredContainer, seen: SeenContainer | null): Step[] {
  if (!seen) return ['create', 'prepare', 'start'];
  if (isRunning(seen)) {
    if (seen.task?.timedOut) return ['stop'];
    if (target.state === 'paused') return seen.state === 'paused' ? [] : ['pause'];
    return seen.state === 'paused' ? ['unpause'] : [];
  }
  if (seen.startedAt !== null) return stepsAfterEnd(seen);
  if (seen.state === 'dead') return ['remove', 'create', 'prepare', 'start'];
  return seen.task?.phase === 'ready' ? ['start'] : ['prepare', 'start'];
}

/** One that never ran has nothing to save. */
function stepsAfterEnd({ startedAt, task }: SeenContainer): Step[] {
  if (startedAt === null) return [];
  return task?.phase === 'saved' || task?.phase === 'not saved' ? [] : ['save'];
}
