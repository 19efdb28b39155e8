import { PRIORITY_ORDER, type TaskPriority } from '@stagi/contract/taskRules.ts';
import type { Task } from '@stagi/contract/tasks.ts';

/** Those of the waiting tasks that start before a new one of this priority, in their order. */
export function queueAhead<Waiting extends Pick<Task, 'position' | 'priority'>>(
  tasks: readonly Waiting[],
  priority: TaskPriority,
): Waiting[] {
  return tasks
    .filter((task) => task.position !== null && PRIORITY_ORDER[task.priority] >= PRIORITY_ORDER[priority])
    .toSorted((a, b) => (a.position ?? 0) - (b.position ?? 0));
}
