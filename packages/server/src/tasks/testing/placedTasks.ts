import { type ActualTask, FRESH_TASK } from '@stagi/contract/daemon.ts';
import type { PlacedContainer, PlacedTask } from '../decide.ts';
import type { Surroundings } from '../waiting.ts';

export const NOW = new Date('2026-11-26T12:00:00Z');
export const ago = (minutes: number): Date => new Date(NOW.getTime() - minutes * 60_000);
export const DAY = 24 * 60;

export const report = (phase: ActualTask['phase'], more: Partial<ActualTask> = {}): ActualTask => ({
  ...FRESH_TASK,
  phase,
  ...more,
});

export const BEFORE = { startedAt: null, finishedAt: null, exitCode: null };
export const RUNS = { startedAt: ago(30), finishedAt: null, exitCode: null };
export const ended = (exitCode: number | null) => ({ startedAt: ago(30), finishedAt: ago(1), exitCode });

export const container = (change: Partial<PlacedContainer> = {}): PlacedContainer => ({
  status: 'running',
  statusReason: null,
  statusSince: ago(1),
  desired: 'running',
  hasFailedForGood: false,
  report: report('ready'),
  ...RUNS,
  ...change,
});

export const AROUND: Surroundings = {
  server: { kind: 'rented', status: 'online', isAttached: true, runsTasks: true },
  project: 'active',
  storage: 'rented',
  workspace: { isDisabled: false, exhaustedAt: null },
};
export const own = (exhaustedAt: Date | null): Partial<Surroundings> => ({
  server: { ...AROUND.server, kind: 'self-hosted' },
  workspace: { isDisabled: false, exhaustedAt },
});

export const placed = (change: Partial<PlacedTask> = {}): PlacedTask => ({
  ...AROUND,
  status: 'running',
  cancelAskedAt: null,
  cancelReason: null,
  timeLimitMinutes: null,
  retries: 0,
  retryOnFailure: false,
  runNumber: 1,
  container: container(),
  now: NOW,
  ...change,
});

export const exited = (code: number, more: Partial<PlacedContainer> = {}): PlacedContainer =>
  container({
    status: code === 0 ? 'exited' : 'failed',
    statusReason: code === 0 ? null : `It ended with exit code ${code}`,
    desired: 'stopped',
    report: report('saved'),
    ...ended(code),
    ...more,
  });
