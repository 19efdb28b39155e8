import type { Decision, Transition } from './decision.ts';
import { ageMs, confirmAbsence, confirmTwice } from './observations.ts';
import type { InstanceSnapshot } from './snapshot.ts';
import { DELETED_RECHECK_MS, pollIntervalMs } from './timing.ts';

const RETRY_VISIBLE_MS = 5_000;
const RETRY_TERMINATING_MS = 60_000;

/** Terminated only after two looks without the machine: a cloud's "ok" to a deletion proves nothing. */
export function stepTowardTerminated(snapshot: InstanceSnapshot): Decision {
  const { row, ops, machine } = snapshot;
  if (!mayHaveMachine(snapshot)) return terminated(snapshot);
  const pollAgain = { requeueAfterMs: pollIntervalMs(ageMs(snapshot, row.status_since)) };
  const asked = ops.terminate?.state === 'done' ? ops.terminate : undefined;
  if (machine) {
    const retryMs = machine.state === 'terminating' ? RETRY_TERMINATING_MS : RETRY_VISIBLE_MS;
    return asked && ageMs(snapshot, asked.created_at) < retryMs ? pollAgain : { effect: 'terminate' };
  }
  // The cloud's list may lag: with the ref it can be deleted although it is not shown.
  if (machineRef(snapshot) && !asked) return { effect: 'terminate' };
  // After an unanswered start a machine may still appear.
  const isUncertain = ops.start?.state === 'intent' && machineRef(snapshot) === null;
  const { isConfirmed, set, waitMs } = isUncertain
    ? confirmAbsence(snapshot)
    : confirmTwice(snapshot, DELETED_RECHECK_MS);
  if (isConfirmed) return terminated(snapshot);
  return { set, requeueAfterMs: isUncertain ? Math.min(waitMs, RETRY_VISIBLE_MS) : waitMs };
}

/** Whether a machine may exist: a start was requested, or a machine was adopted. */
export function mayHaveMachine(snapshot: Pick<InstanceSnapshot, 'row' | 'ops'>): boolean {
  return snapshot.ops.start !== undefined || snapshot.row.provider_ref !== null;
}

/** The cloud's id of the machine, from whichever source knows it. */
export function machineRef({ row, ops, machine }: InstanceSnapshot): string | null {
  const started = ops.start?.params.ref;
  return machine?.ref ?? row.provider_ref ?? (typeof started === 'string' ? started : null);
}

function terminated({ row }: InstanceSnapshot): Transition {
  return {
    to: row.status === 'terminating' ? 'terminated' : undefined,
    set: { provider_ref: null, ip: null, machine_state: null, misses: 0, missed_at: null },
    isGone: true,
    requeueAfterMs: null,
  };
}
