import { text } from '@stagi/contract/text.ts';
import { ZERO_BALANCE } from '../billing/zero.ts';
import type { Decision, Transition } from './decision.ts';
import {
  ageMs,
  confirmAbsence,
  confirmTwice,
  type InstanceChanges,
  isDaemonAlive,
  isPastDeadline,
  isReady,
  wasRequestedRecently,
} from './observations.ts';
import type { InstanceSnapshot } from './snapshot.ts';
import { stepTowardTerminated } from './terminate.ts';
import { pollIntervalMs, STEADY_POLL_MS } from './timing.ts';

/** The next step from the observed state to the desired state. Pure. */
export function decide(snapshot: InstanceSnapshot): Decision {
  const { desired, status } = snapshot.row;
  if (desired === 'gone') return stepTowardTerminated(snapshot);
  switch (status) {
    case 'in queue':
      return decideQueued(snapshot);
    case 'creating':
      return decideCreating(snapshot);
    case 'powering on':
      return decidePoweringOn(snapshot);
    case 'rebooting':
      return decideRebooting(snapshot);
    case 'powering off':
      return decidePoweringOff(snapshot);
    case 'stopped':
      return decideStopped(snapshot);
    case 'online':
    case 'unresponsive':
      return decideRunning(snapshot);
    case 'error':
      return decideError(snapshot);
    case 'creation failed':
    case 'terminating':
    case 'terminated':
      throw new Error(`instance ${snapshot.row.id} is ${status} and not meant to be gone`);
    default:
      throw new Error(`unknown status ${status satisfies never}`);
  }
}

/** What a passed deadline means while the cloud cannot be asked; `null`: keep waiting. */
export function decideWithoutCloud(snapshot: InstanceSnapshot): Transition | null {
  if (!isPastDeadline(snapshot) || snapshot.row.desired === 'gone') return null;
  switch (snapshot.row.status) {
    case 'in queue':
    case 'creating':
      return failCreation(snapshot, TOO_SLOW);
    case 'rebooting':
      return daemonNotBack(snapshot);
    case 'powering on':
      return { to: 'error', reason: text('The cloud did not start it in time'), requeueAfterMs: STEADY_POLL_MS };
    case 'powering off':
      return { to: 'error', reason: text('The cloud did not stop it in time'), requeueAfterMs: STEADY_POLL_MS };
    default:
      return null;
  }
}

const TOO_SLOW = text('The cloud did not get the server ready in time');
const VANISHED = text('The cloud does not show this server any more');

/** Ends a creation; the worker then deletes the machine if one exists. */
export function failCreation({ row }: InstanceSnapshot, reason: string): Transition {
  return { to: 'creation failed', reason, set: { desired: 'gone', gen: row.gen + 1, ...NO_MISSES }, requeueAfterMs: 0 };
}

const NO_MISSES: InstanceChanges = { misses: 0, missed_at: null };

function decideQueued(snapshot: InstanceSnapshot): Decision {
  if (snapshot.machine) return { to: 'creating', reached: ['capacity'], requeueAfterMs: 0 };
  return isPastDeadline(snapshot) ? failCreation(snapshot, TOO_SLOW) : { effect: 'start' };
}

function decideCreating(snapshot: InstanceSnapshot): Decision {
  const { machine } = snapshot;
  if (isReady(snapshot, null)) {
    return { to: 'online', reached: ['booting', 'daemon', 'ready'], requeueAfterMs: STEADY_POLL_MS };
  }
  if (isPastDeadline(snapshot)) return failCreation(snapshot, TOO_SLOW);
  switch (machine?.state) {
    case 'running':
      return { reached: ['booting'], requeueAfterMs: pollInterval(snapshot) };
    case 'creating':
      return { requeueAfterMs: pollInterval(snapshot) };
    case 'error':
      return failCreation(snapshot, machine.detail ?? text('The cloud could not make this server'));
    default: {
      const { isConfirmed, set } = confirmAbsence(snapshot);
      return isConfirmed ? failCreation(snapshot, VANISHED) : { set, requeueAfterMs: pollInterval(snapshot) };
    }
  }
}

function decidePoweringOn(snapshot: InstanceSnapshot): Decision {
  const { row, machine } = snapshot;
  if (isReady(snapshot, row.status_since)) return { to: 'online', requeueAfterMs: STEADY_POLL_MS };
  switch (machine?.state) {
    case 'running':
      return isPastDeadline(snapshot) ? daemonNotBack(snapshot) : { requeueAfterMs: pollInterval(snapshot) };
    case 'stopped':
      if (isPastDeadline(snapshot)) return stayStopped(snapshot, text('The cloud did not start it in time'));
      return wasRequestedRecently(snapshot, 'resume')
        ? { requeueAfterMs: pollInterval(snapshot) }
        : { effect: 'resume' };
    case 'creating':
    case 'stopping':
      return decideWithoutCloud(snapshot) ?? { requeueAfterMs: pollInterval(snapshot) };
    default:
      return missingOrFailed(snapshot);
  }
}

/** For a machine that its cloud does not start. */
export function stayStopped({ row }: InstanceSnapshot, reason: string): Transition {
  return { to: 'stopped', reason, set: { desired: 'stopped', gen: row.gen + 1 }, requeueAfterMs: STEADY_POLL_MS };
}

function decideRebooting(snapshot: InstanceSnapshot): Decision {
  const { row, machine, ops } = snapshot;
  const asked = ops.reboot?.gen === row.gen ? ops.reboot : undefined;
  // A daemon that connected after the intent proves the reboot, even if the cloud's answer was lost.
  if (asked && hasRebooted(snapshot, asked)) {
    return { to: 'online', set: { reboot_done: row.reboot_wanted }, requeueAfterMs: STEADY_POLL_MS };
  }
  if (isPastDeadline(snapshot)) return daemonNotBack(snapshot);
  if (machine?.state === 'running' && row.reboot_done < row.reboot_wanted) return { effect: 'reboot' };
  if (machine?.state === 'stopped' && row.reboot_done < row.reboot_wanted) {
    return { to: 'error', reason: text('The server was stopped at its cloud'), requeueAfterMs: 0 };
  }
  return machine && machine.state !== 'error' && machine.state !== 'terminating'
    ? { requeueAfterMs: pollInterval(snapshot) }
    : missingOrFailed(snapshot);
}

function hasRebooted(snapshot: InstanceSnapshot, asked: NonNullable<InstanceSnapshot['ops']['reboot']>): boolean {
  if (snapshot.traits.readiness === 'provider') return asked.state === 'done' && isReady(snapshot, null);
  return isReady(snapshot, asked.created_at);
}

function daemonNotBack({ row }: InstanceSnapshot): Transition {
  return {
    to: 'unresponsive',
    reason: text('Its agent did not reconnect in time'),
    set: { reboot_done: row.reboot_wanted },
    requeueAfterMs: STEADY_POLL_MS,
  };
}

function decidePoweringOff(snapshot: InstanceSnapshot): Decision {
  switch (snapshot.machine?.state) {
    case 'stopped':
      return {
        to: 'stopped',
        reason: snapshot.row.zero_stopped_at ? ZERO_BALANCE : null,
        requeueAfterMs: STEADY_POLL_MS,
      };
    case 'running':
    case 'creating':
    case 'stopping': {
      const late = decideWithoutCloud(snapshot);
      if (late) return late;
      const isUnderWay = snapshot.machine.state !== 'running' || wasRequestedRecently(snapshot, 'stop');
      return isUnderWay ? { requeueAfterMs: pollInterval(snapshot) } : { effect: 'stop' };
    }
    default:
      return missingOrFailed(snapshot);
  }
}

function decideStopped(snapshot: InstanceSnapshot): Decision {
  switch (snapshot.machine?.state) {
    case 'running':
      // It was started at the cloud, not through us: the desired state wins.
      return wasRequestedRecently(snapshot, 'stop') ? { requeueAfterMs: STEADY_POLL_MS } : { effect: 'stop' };
    case 'creating':
    case 'stopped':
    case 'stopping':
      return { requeueAfterMs: STEADY_POLL_MS };
    default:
      return missingOrFailed(snapshot);
  }
}

function decideRunning(snapshot: InstanceSnapshot): Decision {
  switch (snapshot.machine?.state) {
    case 'running':
      if (snapshot.row.status === 'unresponsive' && isDaemonAlive(snapshot))
        return { to: 'online', requeueAfterMs: STEADY_POLL_MS };
      return { requeueAfterMs: STEADY_POLL_MS };
    case 'creating':
      return { requeueAfterMs: STEADY_POLL_MS };
    case 'stopping':
    case 'stopped': {
      // A machine that restarts itself shows as stopped for a moment.
      const { isConfirmed, set, waitMs } = confirmTwice(snapshot, 5_000);
      if (!isConfirmed) return { set, requeueAfterMs: waitMs };
      return { to: 'error', reason: text('The server was stopped at its cloud'), requeueAfterMs: 0 };
    }
    default:
      return missingOrFailed(snapshot);
  }
}

function decideError(snapshot: InstanceSnapshot): Decision {
  const { row, machine } = snapshot;
  const reason = row.status_reason;
  if (machine?.state === 'stopped') {
    return { to: 'stopped', reason, set: { desired: 'stopped', gen: row.gen + 1 }, requeueAfterMs: STEADY_POLL_MS };
  }
  if (isDaemonAlive(snapshot)) {
    return { to: 'online', reason, set: { desired: 'running', gen: row.gen + 1 }, requeueAfterMs: STEADY_POLL_MS };
  }
  return { requeueAfterMs: STEADY_POLL_MS };
}

/** The machine is in error, being deleted at the cloud, or missing. */
function missingOrFailed(snapshot: InstanceSnapshot): Transition {
  const { machine } = snapshot;
  if (machine?.state === 'error') {
    return {
      to: 'error',
      reason: machine.detail ?? text('The cloud reports an error'),
      requeueAfterMs: STEADY_POLL_MS,
    };
  }
  const { isConfirmed, set, waitMs } = confirmAbsence(snapshot);
  if (isConfirmed)
    return { to: 'error', reason: VANISHED, set: { machine_state: null }, requeueAfterMs: STEADY_POLL_MS };
  return decideWithoutCloud(snapshot) ?? { set, requeueAfterMs: Math.min(waitMs, STEADY_POLL_MS) };
}

const pollInterval = (snapshot: InstanceSnapshot): number => pollIntervalMs(ageMs(snapshot, snapshot.row.status_since));
