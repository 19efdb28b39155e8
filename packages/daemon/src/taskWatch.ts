import { isDeepStrictEqual } from 'node:util';
import type { DesiredState } from '@stagi/contract/desiredState.ts';
import type { ContainerRecords } from './containerRecords.ts';
import { errorText, log } from './log.ts';
import type { SeenContainer } from './plan.ts';
import { deadlineOf, NEW_TASK, observeTask, reportOfTask, type TaskRecord } from './taskRecord.ts';

/** A later deadline is set by a later pass. */
const MAX_TIMER_MS = 60_000;

/** Records what becomes of the runs of tasks, and wakes the loop at the next time limit. */
export interface TaskWatch {
  /** Returns the containers with what is recorded of their runs. */
  observe(listed: readonly SeenContainer[], desired: DesiredState | null): Promise<SeenContainer[]>;
  stop(): void;
}

export function watchTasks(records: ContainerRecords, bootId: () => Promise<string>, wake: () => void): TaskWatch {
  let timer: NodeJS.Timeout | undefined;

  /** What cannot be written is known until the next restart of the daemon all the same. */
  async function store(id: number, record: TaskRecord): Promise<void> {
    try {
      await records.changeTask(id, record);
    } catch (error) {
      log(`the record of container ${id} cannot be written: ${errorText(error)}`);
    }
  }

  return {
    async observe(listed, desired) {
      const targets = new Map(desired?.containers.map((target) => [target.id, target.task]));
      const boot = await bootId();
      const now = Date.now();
      let next = now + MAX_TIMER_MS;
      const seen: SeenContainer[] = [];
      for (const container of listed) {
        const task = targets.get(container.id);
        const known = records.task(container.id);
        if (!task && !known) {
          seen.push(container);
          continue;
        }
        const before = known ?? NEW_TASK;
        const limitSeconds = task?.timeLimitSeconds ?? null;
        const record = observeTask(before, container, { limitSeconds, bootId: boot, now });
        if (!isDeepStrictEqual(record, known)) await store(container.id, record);
        next = Math.min(next, deadlineOf(record, container, limitSeconds) ?? next);
        seen.push({ ...container, task: reportOfTask(record) });
      }
      clearTimeout(timer);
      timer = setTimeout(wake, next - now);
      return seen;
    },
    stop: () => clearTimeout(timer),
  };
}
