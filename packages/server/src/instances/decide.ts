import { ZERO_BALANCE } from '../billing/zero.ts';
import type { Decision, Settlement } from './decision.ts';
import { ageMs, type Changes, doubt, doubtExistence, isHeard, isPastDeadline, isReady, wasAsked } from './evidence.ts';
import { pollMs, WATCH_MS } from './pace.ts';
import { towardsGone } from './terminate.ts';
import type { World } from './world.ts';

/** The next step from what is to what should be. Pure: the same world, the same step. */
export function decide(world: World): Decision {
  const { desired, status } = world.row;
  if (desired === 'gone') return towardsGone(world);
  switch (status) {
    case 'in queue':
      return queued(world);
    case 'creating':
      return creating(world);
    case 'powering on':
      return poweringOn(world);
    case 'rebooting':
      return rebooting(world);
    case 'powering off':
      return poweringOff(world);
    case 'stopped':
      return stopped(world);
    case 'online':
    case 'unresponsive':
      return running(world);
    case 'error':
      return broken(world);
    case 'creation failed':
    case 'terminating':
    case 'terminated':
      throw new Error(`instance ${world.row.id} is ${status} and not meant to be gone`);
    default:
      throw new Error(`unknown status ${status satisfies never}`);
  }
}

/** What a deadline means while the cloud cannot be asked. */
export function decideBlind(world: World): Settlement | null {
  if (!isPastDeadline(world) || world.row.desired === 'gone') return null;
  switch (world.row.status) {
    case 'in queue':
    case 'creating':
      return failed(world, TOO_SLOW);
    case 'rebooting':
      return notBack(world);
    case 'powering on':
      return { to: 'error', reason: 'The cloud did not start it in time', againMs: WATCH_MS };
    case 'powering off':
      return { to: 'error', reason: 'The cloud did not stop it in time', againMs: WATCH_MS };
    default:
      return null;
  }
}

const TOO_SLOW = 'The cloud did not get the server ready in time';
const VANISHED = 'The cloud does not show this server any more';

/** Ends a creation; the worker then removes whatever there may be of it. */
export function failed({ row }: World, reason: string): Settlement {
  return { to: 'creation failed', reason, set: { desired: 'gone', gen: row.gen + 1, ...CERTAIN }, againMs: 0 };
}

const CERTAIN: Changes = { misses: 0, missed_at: null };

function queued(world: World): Decision {
  if (world.machine) return { to: 'creating', reached: ['capacity'], againMs: 0 };
  return isPastDeadline(world) ? failed(world, TOO_SLOW) : { effect: 'start' };
}

function creating(world: World): Decision {
  const { machine } = world;
  if (isReady(world, null)) {
    return { to: 'online', reached: ['booting', 'daemon', 'ready'], againMs: WATCH_MS };
  }
  if (isPastDeadline(world)) return failed(world, TOO_SLOW);
  switch (machine?.state) {
    case 'running':
      return { reached: ['booting'], againMs: poll(world) };
    case 'creating':
      return { againMs: poll(world) };
    case 'error':
      return failed(world, machine.detail ?? 'The cloud could not make this server');
    default: {
      const { isBelieved, set } = doubtExistence(world);
      return isBelieved ? failed(world, VANISHED) : { set, againMs: poll(world) };
    }
  }
}

function poweringOn(world: World): Decision {
  const { row, machine } = world;
  if (isReady(world, row.status_since)) return { to: 'online', againMs: WATCH_MS };
  switch (machine?.state) {
    case 'running':
      return isPastDeadline(world) ? notBack(world) : { againMs: poll(world) };
    case 'stopped':
      if (isPastDeadline(world)) return stillOff(world, 'The cloud did not start it in time');
      return wasAsked(world, 'resume') ? { againMs: poll(world) } : { effect: 'resume' };
    case 'creating':
    case 'stopping':
      return decideBlind(world) ?? { againMs: poll(world) };
    default:
      return troubled(world);
  }
}

/** A machine that its cloud would not start stays what it was. */
export function stillOff({ row }: World, reason: string): Settlement {
  return { to: 'stopped', reason, set: { desired: 'stopped', gen: row.gen + 1 }, againMs: WATCH_MS };
}

function rebooting(world: World): Decision {
  const { row, machine, ops } = world;
  const asked = ops.reboot?.gen === row.gen ? ops.reboot : undefined;
  // A daemon that came after the intent proves the reboot, even if the cloud's answer was lost.
  if (asked && isBack(world, asked)) {
    return { to: 'online', set: { reboot_done: row.reboot_wanted }, againMs: WATCH_MS };
  }
  if (isPastDeadline(world)) return notBack(world);
  if (machine?.state === 'running' && row.reboot_done < row.reboot_wanted) return { effect: 'reboot' };
  if (machine?.state === 'stopped' && row.reboot_done < row.reboot_wanted) {
    return { to: 'error', reason: 'The server was stopped at its cloud', againMs: 0 };
  }
  return machine && machine.state !== 'error' && machine.state !== 'terminating'
    ? { againMs: poll(world) }
    : troubled(world);
}

function isBack(world: World, asked: NonNullable<World['ops']['reboot']>): boolean {
  if (world.traits.readiness === 'provider') return asked.state === 'done' && isReady(world, null);
  return isReady(world, asked.created_at);
}

function notBack({ row }: World): Settlement {
  return {
    to: 'unresponsive',
    reason: 'Its daemon did not come back in time',
    set: { reboot_done: row.reboot_wanted },
    againMs: WATCH_MS,
  };
}

function poweringOff(world: World): Decision {
  switch (world.machine?.state) {
    case 'stopped':
      return { to: 'stopped', reason: world.row.zero_stopped_at ? ZERO_BALANCE : null, againMs: WATCH_MS };
    case 'running':
    case 'creating':
    case 'stopping': {
      const late = decideBlind(world);
      if (late) return late;
      const isUnderWay = world.machine.state !== 'running' || wasAsked(world, 'stop');
      return isUnderWay ? { againMs: poll(world) } : { effect: 'stop' };
    }
    default:
      return troubled(world);
  }
}

function stopped(world: World): Decision {
  switch (world.machine?.state) {
    case 'running':
      // Somebody started it past us: what was wished for wins.
      return wasAsked(world, 'stop') ? { againMs: WATCH_MS } : { effect: 'stop' };
    case 'creating':
    case 'stopped':
    case 'stopping':
      return { againMs: WATCH_MS };
    default:
      return troubled(world);
  }
}

function running(world: World): Decision {
  switch (world.machine?.state) {
    case 'running':
      if (world.row.status === 'unresponsive' && isHeard(world)) return { to: 'online', againMs: WATCH_MS };
      return { againMs: WATCH_MS };
    case 'creating':
      return { againMs: WATCH_MS };
    case 'stopping':
    case 'stopped': {
      // A machine that restarts itself shows as stopped for a moment.
      const { isBelieved, set, waitMs } = doubt(world, 5_000);
      if (!isBelieved) return { set, againMs: waitMs };
      return { to: 'error', reason: 'The server was stopped at its cloud', againMs: 0 };
    }
    default:
      return troubled(world);
  }
}

function broken(world: World): Decision {
  const { row, machine } = world;
  const reason = row.status_reason;
  if (machine?.state === 'stopped') {
    return { to: 'stopped', reason, set: { desired: 'stopped', gen: row.gen + 1 }, againMs: WATCH_MS };
  }
  if (isHeard(world)) {
    return { to: 'online', reason, set: { desired: 'running', gen: row.gen + 1 }, againMs: WATCH_MS };
  }
  return { againMs: WATCH_MS };
}

/** In error, being deleted past us, or not shown at all. */
function troubled(world: World): Settlement {
  const { machine } = world;
  if (machine?.state === 'error') {
    return { to: 'error', reason: machine.detail ?? 'The cloud reports an error', againMs: WATCH_MS };
  }
  const { isBelieved, set, waitMs } = doubtExistence(world);
  if (isBelieved) return { to: 'error', reason: VANISHED, set: { machine_state: null }, againMs: WATCH_MS };
  return decideBlind(world) ?? { set, againMs: Math.min(waitMs, WATCH_MS) };
}

const poll = (world: World): number => pollMs(ageMs(world, world.row.status_since));
