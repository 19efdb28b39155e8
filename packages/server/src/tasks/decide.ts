import type { ContainerStatus } from '@stagi/contract/containers.ts';
import type { ActualTask } from '@stagi/contract/daemon.ts';
import { FROZEN_DAYS, type TaskStatus, UNSEEN_HOURS } from '@stagi/contract/taskRules.ts';
import { text } from '@stagi/contract/text.ts';
import { ZERO_BALANCE } from '../billing/zero.ts';
import { CONTAINER_GONE, SERVER_STOPPED } from '../containers/reasons.ts';
import type { ContainerRow } from '../db/schema.ts';
import { isServerGone, isStorageGone, mayStart, SERVER_GONE, type Surroundings, whatIsGone } from './waiting.ts';

/** A task whose current run has a container, with all that its next step depends on. */
export interface PlacedTask extends Surroundings {
  status: Extract<TaskStatus, 'in queue' | 'running' | 'canceling'>;
  cancelAskedAt: Date | null;
  cancelReason: string | null;
  timeLimitMinutes: number | null;
  retries: number;
  retryOnFailure: boolean;
  /** The number of the current run, from 1. */
  runNumber: number;
  container: PlacedContainer;
  /** By the clock of the database. */
  now: Date;
}

export interface PlacedContainer {
  status: ContainerStatus;
  statusReason: string | null;
  statusSince: Date;
  desired: ContainerRow['desired'];
  exitCode: number | null;
  startedAt: Date | null;
  finishedAt: Date | null;
  /** Its daemon does not try the failed step again. */
  hasFailedForGood: boolean;
  report: ActualTask | null;
}

/** How a run has ended. */
export interface RunEnd {
  reason: string | null;
  /** Whether it may be tried again as far as its end is concerned. */
  retry: boolean;
}

export type TaskStep =
  /** Its container was seen started. */
  | { do: 'start' }
  /** It is to end as canceled. */
  | { do: 'cancel'; reason: string }
  /** Changes what is desired of its container. */
  | { do: 'steer'; desired: ContainerRow['desired'] }
  | { do: 'end'; as: 'done' | 'failed' | 'canceled'; reason: string | null }
  | { do: 'retry'; reason: string; afterMs: number }
  /** Tells why it is where it is, and until when. */
  | { do: 'tell'; reason: string | null; deadline: Date | null };

const UNSEEN = text('Its server cannot be reached');
const HOUR_MS = 3_600_000;
/** How long the output of a canceled run may take. */
export const CANCELED_SAVE_MINUTES = 10;
/** A server that nobody pays for runs no longer (`metering/zeroBalance.ts`). */
const ZERO_GRACE_MS = 60_000;
/** How long the output of a run may take that has ended by itself. */
const SAVE_HOURS = 24;
const RETRY_BASE_MS = 10_000;
const RETRY_MAX_MS = 10 * 60_000;

/** The one next step of a task whose run has a container. Pure. */
export function decide(task: PlacedTask): TaskStep {
  const { status, container } = task;
  // A disabled workspace waits for nobody.
  if (task.workspace.isDisabled) return { do: 'end', as: 'canceled', reason: whatIsGone(task) };
  if (status === 'in queue' && container.startedAt) return { do: 'start' };
  const end = endOf(task);
  if (status === 'canceling') return end ? { do: 'end', as: 'canceled', reason: task.cancelReason } : cancelling(task);
  if (end) return afterEnd(task, end);
  const cancel = reasonToCancel(task);
  if (cancel) return { do: 'cancel', reason: cancel };
  const isFrozen = freezes(task);
  if (!hasEnded(container) && isFrozen && container.desired === 'running') return { do: 'steer', desired: 'paused' };
  if (!hasEnded(container) && !isFrozen && container.desired === 'paused') return { do: 'steer', desired: 'running' };
  return { do: 'tell', ...whatItWaitsFor(task) };
}

/** Doubles from 10 seconds up to 10 minutes. */
export const retryDelayMs = (runNumber: number): number =>
  Math.min(RETRY_MAX_MS, RETRY_BASE_MS * 2 ** Math.min(runNumber - 1, 10));

function afterEnd(task: PlacedTask, { reason, retry }: RunEnd): TaskStep {
  if (reason === null) return { do: 'end', as: 'done', reason };
  const isTriedAgain = retry && task.runNumber <= task.retries && mayStart(task).may !== 'never';
  return isTriedAgain
    ? { do: 'retry', reason, afterMs: retryDelayMs(task.runNumber) }
    : { do: 'end', as: 'failed', reason };
}

/** How the run has ended; null: it has not, or its output is still being stored. A reason of null: it has done its work. */
function endOf(task: PlacedTask): RunEnd | null {
  const { container, now } = task;
  switch (container.status) {
    case 'creation failed':
      return { reason: container.statusReason ?? text('It could not be created'), retry: !container.hasFailedForGood };
    case 'deleted':
      return isServerGone(task.server.status)
        ? { reason: SERVER_GONE, retry: false }
        : { reason: container.statusReason ?? CONTAINER_GONE, retry: true };
    case 'unresponsive':
    case 'terminating':
      return now.getTime() - container.statusSince.getTime() >= UNSEEN_HOURS * HOUR_MS
        ? { reason: text('Nobody has seen it for 24 hours'), retry: false }
        : null;
    case 'stopped':
      // A run that we stop is still to store its output.
      if (container.statusReason === SERVER_STOPPED) return { reason: text('Its server was stopped'), retry: true };
      break;
    case 'failed':
      if (container.statusReason === CONTAINER_GONE) return { reason: CONTAINER_GONE, retry: true };
      if (!container.startedAt)
        return {
          reason: container.statusReason ?? text('It could not be started'),
          retry: !container.hasFailedForGood,
        };
      break;
  }
  if (!hasEnded(container)) return null;
  const { report } = container;
  if (report?.phase !== 'saved' && report?.phase !== 'not saved') {
    if (freezes(task) || now < saveDeadline(task)) return null;
    return { reason: notStored(report?.error ?? text('It took too long')), retry: false };
  }
  return ownEnd(task, report);
}

function ownEnd({ container, timeLimitMinutes, retryOnFailure }: PlacedTask, report: ActualTask): RunEnd {
  if (report.interrupted) return { reason: text('Its server restarted'), retry: true };
  if (report.timedOut)
    return {
      reason: text('It was stopped at its time limit of {{minutes}} minutes', { minutes: timeLimitMinutes ?? 0 }),
      retry: false,
    };
  if (container.status !== 'exited')
    return { reason: container.statusReason ?? text('It ended'), retry: retryOnFailure };
  return report.phase === 'saved'
    ? { reason: null, retry: false }
    : { reason: notStored(report.error ?? text('Its upload failed')), retry: false };
}

const notStored = (error: string): string => text('Its output could not be stored: {{error}}', { error });

/**
 * By its times, whatever its status: a container that is seen again has its status before its end. Docker may note the end
 * of a short run a moment before its start, and the container of a run starts only once.
 */
export function hasEnded({ startedAt, finishedAt }: Pick<PlacedContainer, 'startedAt' | 'finishedAt'>): boolean {
  return startedAt !== null && finishedAt !== null;
}

/** A task of a rented server ends with its balance; on an own server it is frozen, for a time. */
function reasonToCancel(task: PlacedTask): string | null {
  if (task.cancelAskedAt) return task.cancelReason ?? text('It was canceled');
  const gone = whatIsGone(task);
  if (gone) return gone;
  const { exhaustedAt } = task.workspace;
  if (!exhaustedAt) return null;
  return task.server.kind === 'rented' || task.now >= frozenUntil(exhaustedAt) ? ZERO_BALANCE : null;
}

const frozenUntil = (exhaustedAt: Date): Date => after(exhaustedAt, FROZEN_DAYS * 24 * HOUR_MS);

const freezes = ({ server, workspace }: Surroundings): boolean =>
  server.kind === 'self-hosted' && workspace.exhaustedAt !== null;

/** Until its container has ended and its output is stored. */
function cancelling(task: PlacedTask): TaskStep {
  const { container } = task;
  // At zero balance a storage is read-only.
  const mayBeStored = !isStorageGone(task.storage) && task.workspace.exhaustedAt === null;
  const isAbsent = container.desired === 'absent';
  if (!isAbsent && isEndingAtZero(task))
    return container.desired === 'stopped'
      ? { do: 'tell', reason: task.cancelReason, deadline: after(task.cancelAskedAt!, ZERO_GRACE_MS) }
      : { do: 'steer', desired: 'stopped' };
  if (!isAbsent && (!container.startedAt || !mayBeStored)) return { do: 'steer', desired: 'absent' };
  if (!isAbsent && container.desired !== 'stopped') return { do: 'steer', desired: 'stopped' };
  if (container.status === 'unresponsive')
    return {
      do: 'tell',
      reason: container.statusReason,
      deadline: after(container.statusSince, UNSEEN_HOURS * HOUR_MS),
    };
  if (!isAbsent && task.now >= saveDeadline(task)) return { do: 'steer', desired: 'absent' };
  return { do: 'tell', reason: task.cancelReason, deadline: isAbsent ? null : saveDeadline(task) };
}

/** A balance of zero leaves its programs a minute to end, as nothing of its output can be stored afterwards. */
function isEndingAtZero(task: PlacedTask): boolean {
  const { container, cancelAskedAt, now } = task;
  if (task.workspace.exhaustedAt === null || isStorageGone(task.storage)) return false;
  if (!container.startedAt || hasEnded(container) || container.status === 'unresponsive') return false;
  return cancelAskedAt !== null && now < after(cancelAskedAt, ZERO_GRACE_MS);
}

/** When its output is given up. Of a canceled run, counted from its end or from the request, whichever came later. */
function saveDeadline({ status, cancelAskedAt, container }: PlacedTask): Date {
  if (status !== 'canceling') return after(container.finishedAt ?? container.statusSince, SAVE_HOURS * HOUR_MS);
  const since = Math.max(cancelAskedAt?.getTime() ?? 0, container.statusSince.getTime());
  return new Date(since + CANCELED_SAVE_MINUTES * 60_000);
}

function whatItWaitsFor(task: PlacedTask): { reason: string | null; deadline: Date | null } {
  const { status, container, workspace } = task;
  if (container.status === 'unresponsive')
    return { reason: container.statusReason ?? UNSEEN, deadline: after(container.statusSince, UNSEEN_HOURS * HOUR_MS) };
  if (hasEnded(container)) {
    const error = container.report?.error;
    const reason = error
      ? text('Its output cannot be stored yet: {{error}}', { error })
      : text('Its output is being stored');
    return { reason, deadline: freezes(task) ? frozenUntil(workspace.exhaustedAt!) : saveDeadline(task) };
  }
  if (freezes(task)) return { reason: ZERO_BALANCE, deadline: frozenUntil(workspace.exhaustedAt!) };
  if (status === 'in queue')
    return { reason: container.statusReason ?? text('Preparing on its server'), deadline: null };
  return { reason: container.statusReason, deadline: null };
}

const after = (moment: Date, ms: number): Date => new Date(moment.getTime() + ms);
