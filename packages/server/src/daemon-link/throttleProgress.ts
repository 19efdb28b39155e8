import type { DaemonMessage } from '@stagi/contract/daemon.ts';

type Progress = Extract<DaemonMessage, { type: 'progress' }>;

const EVERY_MS = 500;

/** Passes on the progress of each container: a new phase at once, updates within a phase at most twice a second. */
export function throttleProgress(write: (progress: Progress) => void): {
  push(progress: Progress): void;
  /** Drops an update that waits: its step has ended. */
  drop(containerId: number): void;
  stop(): void;
} {
  const held = new Map<number, { phase: string; newest: Progress | null; timer: NodeJS.Timeout }>();

  function pass(progress: Progress): void {
    write(progress);
    const id = progress.containerId;
    const timer = setTimeout(() => {
      const entry = held.get(id);
      held.delete(id);
      if (entry?.newest) pass(entry.newest);
    }, EVERY_MS);
    held.set(id, { phase: progress.phase, newest: null, timer });
  }
  return {
    push(progress) {
      const entry = held.get(progress.containerId);
      if (entry && entry.phase === progress.phase) {
        entry.newest = progress;
        return;
      }
      if (entry) clearTimeout(entry.timer);
      pass(progress);
    },
    drop(containerId) {
      clearTimeout(held.get(containerId)?.timer);
      held.delete(containerId);
    },
    stop() {
      for (const { timer } of held.values()) clearTimeout(timer);
      held.clear();
    },
  };
}
