import { ActualTask, FRESH_TASK } from '@stagi/contract/daemon.ts';
import { z } from 'zod';
import { isRunning, type SeenContainer } from './plan.ts';

/** What Docker does not know of the run of a task. */
export const TaskRecord = ActualTask.extend({
  /** The boot of the server that it was started under; null: not started. */
  bootId: z.string().nullable(),
  /** How long it has been paused in all, and since when it is now; milliseconds, the second since 1970. */
  pausedMs: z.number(),
  pausedAt: z.number().nullable(),
});
export type TaskRecord = z.infer<typeof TaskRecord>;

export const NEW_TASK: TaskRecord = {
  ...FRESH_TASK,
  bootId: null,
  pausedMs: 0,
  pausedAt: null,
};

type Seen = Pick<SeenContainer, 'state' | 'startedAt'>;

/**
 * The record after a look at the container: whether it has ended, whether that was its own end, and whether its time
 * limit has passed. Pure.
 */
export function observeTask(
  record: TaskRecord,
  seen: Seen,
  about: { limitSeconds: number | null; bootId: string; now: number },
): TaskRecord {
  const next = { ...record };
  if (seen.state === 'paused') next.pausedAt ??= about.now;
  else if (next.pausedAt !== null) {
    next.pausedMs += Math.max(0, about.now - next.pausedAt);
    next.pausedAt = null;
  }
  const deadline = deadlineOf(next, seen, about.limitSeconds);
  if (deadline !== null && deadline <= about.now) next.timedOut = true;
  const hasEnded = seen.startedAt !== null && (seen.state === 'exited' || seen.state === 'dead');
  if (hasEnded && (record.phase === 'preparing' || record.phase === 'ready')) {
    next.phase = 'saving';
    next.interrupted = record.bootId !== null && record.bootId !== about.bootId;
  }
  return next;
}

/** When it is to be stopped, in milliseconds since 1970; null: not now. The time for which it was paused does not count. */
export function deadlineOf({ pausedMs, timedOut }: TaskRecord, seen: Seen, limitSeconds: number | null): number | null {
  if (limitSeconds === null || timedOut || seen.startedAt === null) return null;
  if (!isRunning(seen) || seen.state === 'paused') return null;
  return Date.parse(seen.startedAt) + limitSeconds * 1000 + pausedMs;
}

/** What the platform is told. */
export function reportOfTask(record: TaskRecord): ActualTask {
  const { bootId: _boot, pausedMs: _ms, pausedAt: _at, ...report } = record;
  return report;
}
