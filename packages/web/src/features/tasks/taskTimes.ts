import type { Task } from '@stagi/contract/tasks.ts';

/** Seconds from the start of a run to its end; null while it has none of them. */
export function runSeconds({ startedAt, finishedAt }: Pick<Task, 'startedAt' | 'finishedAt'>): number | null {
  if (startedAt === null || finishedAt === null) return null;
  return Math.max(0, (Date.parse(finishedAt) - Date.parse(startedAt)) / 1000);
}
