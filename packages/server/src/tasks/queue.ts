import { OVERTAKE_MINUTES } from '@stagi/contract/taskRules.ts';

/** A task that waits for room on its server. CPUs count in tenths, so that 0.1 + 0.2 is 0.3. */
export interface WaitingTask {
  id: number;
  cpus: number;
  gpuCount: number;
  /** Milliseconds since a later task first overtook it; null: none has. */
  overtakenMs: number | null;
}

export interface Room {
  cpus: number;
  /** Indexes of GPUs that no container has. */
  gpuIds: readonly number[];
}

interface Start {
  id: number;
  gpuIds: number[];
}

const OVERTAKE_MS = OVERTAKE_MINUTES * 60_000;

/**
 * Which tasks start now, and on which GPUs. Pure. `waiting` is in the order of the queue. A task that needs more than is
 * free may be overtaken by later ones for a limited time; then nothing after it starts before it does.
 */
export function planQueue(room: Room, waiting: readonly WaitingTask[]): Start[] {
  const starts: Start[] = [];
  let cpus = room.cpus;
  let gpuIds = room.gpuIds.toSorted((a, b) => a - b);
  for (const task of waiting) {
    if (task.cpus <= cpus && task.gpuCount <= gpuIds.length) {
      starts.push({ id: task.id, gpuIds: gpuIds.slice(0, task.gpuCount) });
      cpus -= task.cpus;
      gpuIds = gpuIds.slice(task.gpuCount);
    } else if (task.overtakenMs !== null && task.overtakenMs >= OVERTAKE_MS) break;
  }
  return starts;
}
