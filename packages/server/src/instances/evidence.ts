import { UNRESPONSIVE_AFTER_S } from '@stagi/contract/instances.ts';
import type { InstanceRow } from '../db/schema.ts';
import { MISS_AGE_MS, MISS_GAP_MS, REPEAT_MS } from './pace.ts';
import type { Effect, World } from './world.ts';

/** What a step changes of the row itself; the status goes through its door. */
export type Changes = Partial<
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

export const ageMs = ({ now }: World, since: Date): number => now.getTime() - since.getTime();

export function isPastDeadline(world: World): boolean {
  const deadline = world.row.status_deadline;
  return deadline !== null && deadline < world.now;
}

/** The facts of a look, applied with whatever was decided on them. */
export function observed({ row, machine, now }: World): Changes {
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

/** Whether the machine runs and can be used: its daemon came after `since`, or its cloud's word where no daemon runs. */
export function isReady(world: World, since: Date | null): boolean {
  if (world.machine?.state !== 'running') return false;
  if (world.traits.readiness === 'provider') return world.machine.ip !== null;
  const connectedAt = connectedSince(world);
  return connectedAt !== null && (since === null || connectedAt >= since);
}

/** As `isReady` for a machine whose daemon need not come anew: it is heard now. */
export function isHeard(world: World): boolean {
  const seenAt = world.daemon?.seenAt;
  if (world.traits.readiness === 'provider') return isReady(world, null);
  return isReady(world, null) && seenAt != null && ageMs(world, seenAt) < UNRESPONSIVE_AFTER_S * 1000;
}

function connectedSince({ daemon }: World): Date | null {
  if (!daemon?.connectedAt) return null;
  const isConnected = !daemon.disconnectedAt || daemon.disconnectedAt < daemon.connectedAt;
  return isConnected ? daemon.connectedAt : null;
}

/** Whether the cloud accepted this for the present wish a short while ago: it gets time to show it. */
export function wasAsked(world: World, effect: Effect, withinMs = REPEAT_MS): boolean {
  const op = world.ops[effect];
  return op?.state === 'done' && op.gen === world.row.gen && ageMs(world, op.created_at) < withinMs;
}

/** Counts sightings that contradict what should be, one per `gapMs`; the second is believed. */
export function doubt(world: World, gapMs: number): { isBelieved: boolean; set: Changes; waitMs: number } {
  const { row, now } = world;
  const isCounted = row.missed_at === null || ageMs(world, row.missed_at) >= gapMs;
  const misses = row.misses + (isCounted ? 1 : 0);
  const missedAt = isCounted ? now : row.missed_at;
  return {
    isBelieved: misses >= 2,
    set: { misses, missed_at: missedAt },
    waitMs: isCounted ? gapMs : gapMs - ageMs(world, row.missed_at ?? now),
  };
}

/** As `doubt` for a machine that its cloud does not list: lists lag behind young machines. */
export function doubtExistence(world: World): ReturnType<typeof doubt> {
  const doubted = doubt(world, MISS_GAP_MS);
  const age = ageMs(world, world.ops.start?.created_at ?? world.row.created_at);
  return { ...doubted, isBelieved: doubted.isBelieved && age > MISS_AGE_MS };
}
