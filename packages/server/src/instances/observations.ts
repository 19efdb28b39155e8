import { UNRESPONSIVE_AFTER_S } from '@stagi/contract/instances.ts';
import type { InstanceRow } from '../db/schema.ts';
import type { Effect, InstanceSnapshot } from './snapshot.ts';
import { ABSENCE_MIN_AGE_MS, ABSENCE_RECHECK_MS, RETRY_UNCONFIRMED_MS } from './timing.ts';

/** Columns that a step may set; the status changes only through `transitionInstance`. */
export type InstanceChanges = Partial<
  Pick<
    InstanceRow,
    | 'desired'
    | 'gen'
    | 'provider_ref'
    | 'machine_state'
    | 'running_seen_at'
    | 'ip'
    | 'reboot_done'
    | 'misses'
    | 'missed_at'
  >
>;

export const ageMs = ({ now }: InstanceSnapshot, since: Date): number => now.getTime() - since.getTime();

export function isPastDeadline(snapshot: InstanceSnapshot): boolean {
  const deadline = snapshot.row.status_deadline;
  return deadline !== null && deadline < snapshot.now;
}

/** What the look at the cloud showed, stored together with the transition. */
export function observedChanges({ row, machine, now }: InstanceSnapshot): InstanceChanges {
  if (!machine) return {};
  return {
    machine_state: machine.state,
    running_seen_at: machine.state === 'running' ? now : row.running_seen_at,
    ip: machine.ip ?? row.ip,
    provider_ref: row.provider_ref ?? machine.ref,
    misses: 0,
    missed_at: null,
  };
}

/** Readiness: the machine runs and its daemon connected after `since`; without a daemon the cloud's state decides. */
export function isReady(snapshot: InstanceSnapshot, since: Date | null): boolean {
  if (snapshot.machine?.state !== 'running') return false;
  if (snapshot.traits.readiness === 'provider') return snapshot.machine.ip !== null;
  const connectedAt = connectedSince(snapshot);
  return connectedAt !== null && (since === null || connectedAt >= since);
}

/** Like `isReady`, for a daemon that need not reconnect: its last heartbeat is recent. */
export function isDaemonAlive(snapshot: InstanceSnapshot): boolean {
  const seenAt = snapshot.daemon?.seenAt;
  if (snapshot.traits.readiness === 'provider') return isReady(snapshot, null);
  return isReady(snapshot, null) && seenAt != null && ageMs(snapshot, seenAt) < UNRESPONSIVE_AFTER_S * 1000;
}

function connectedSince({ daemon }: InstanceSnapshot): Date | null {
  if (!daemon?.connectedAt) return null;
  const isConnected = !daemon.disconnectedAt || daemon.disconnectedAt < daemon.connectedAt;
  return isConnected ? daemon.connectedAt : null;
}

/** Whether the cloud accepted this effect for the present generation recently: it gets time to show it. */
export function wasRequestedRecently(
  snapshot: InstanceSnapshot,
  effect: Effect,
  withinMs = RETRY_UNCONFIRMED_MS,
): boolean {
  const op = snapshot.ops[effect];
  return op?.state === 'done' && op.gen === snapshot.row.gen && ageMs(snapshot, op.created_at) < withinMs;
}

/** Counts observations that contradict the expected state, at most one per `gapMs`; the second confirms. */
export function confirmTwice(
  snapshot: InstanceSnapshot,
  gapMs: number,
): { isConfirmed: boolean; set: InstanceChanges; waitMs: number } {
  const { row, now } = snapshot;
  const isCounted = row.missed_at === null || ageMs(snapshot, row.missed_at) >= gapMs;
  const misses = row.misses + (isCounted ? 1 : 0);
  const missedAt = isCounted ? now : row.missed_at;
  return {
    isConfirmed: misses >= 2,
    set: { misses, missed_at: missedAt },
    waitMs: isCounted ? gapMs : gapMs - ageMs(snapshot, row.missed_at ?? now),
  };
}

/** `confirmTwice` for a missing machine: lists lag behind young machines, so it must also be old enough. */
export function confirmAbsence(snapshot: InstanceSnapshot): ReturnType<typeof confirmTwice> {
  const doubted = confirmTwice(snapshot, ABSENCE_RECHECK_MS);
  const age = ageMs(snapshot, snapshot.ops.start?.created_at ?? snapshot.row.created_at);
  return { ...doubted, isConfirmed: doubted.isConfirmed && age > ABSENCE_MIN_AGE_MS };
}
