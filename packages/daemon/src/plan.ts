import type { ActualContainer, DesiredContainer } from '@stagi/contract/daemon.ts';

/** A container of ours as Docker shows it, with the generations from its labels and our records. */
export interface SeenContainer extends Omit<ActualContainer, 'gen'> {
  /** The generation it was created under. */
  createdGen: number;
  /** The highest generation whose start was carried out; 0: none. */
  begunGen: number;
}

export type Step = 'create' | 'start' | 'stop' | 'remove';

export interface ContainerPlan {
  target: DesiredContainer;
  seen: SeenContainer | null;
  /** To be done one after another; never empty. */
  steps: Step[];
}

/**
 * The steps from the actual containers to the desired ones. Pure. Containers that are not desired are left alone. One
 * that exited under the generation that started it is not started again: that is for its restart policy. Nor is it
 * created again when somebody removed it after its exit: `endedGen` tells the generation that it exited under.
 */
export function plan(
  desired: readonly DesiredContainer[],
  seen: readonly SeenContainer[],
  endedGen: (id: number) => number,
): ContainerPlan[] {
  const byId = new Map(seen.map((container) => [container.id, container]));
  return desired.flatMap((target) => {
    const found = byId.get(target.id) ?? null;
    const gone = found === null && target.state === 'running' && endedGen(target.id) >= target.gen;
    const steps = gone ? [] : stepsFor(target, found);
    return steps.length > 0 ? [{ target, seen: found, steps }] : [];
  });
}

export function stepsFor(target: DesiredContainer, seen: SeenContainer | null): Step[] {
  if (seen?.state === 'removing') return [];
  switch (target.state) {
    case 'absent':
      if (!seen) return [];
      return isRunning(seen) ? ['stop', 'remove'] : ['remove'];
    case 'stopped':
      return seen && isRunning(seen) ? ['stop'] : [];
    case 'running':
    case 'paused':
      return stepsToRunning(target, seen);
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
  if (seen.state === 'dead') return ['remove', 'create', 'start'];
  if (isRunning(seen)) return [];
  return seen.state === 'exited' && seen.begunGen >= target.gen ? [] : ['start'];
}
