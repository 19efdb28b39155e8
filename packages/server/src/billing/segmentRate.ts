import type { InstanceRow } from '../db/schema.ts';

/** What a server costs now: the price of running, that of a stopped disk, or nothing at all. */
export type Rate = 'running' | 'stopped' | null;

export type Metered = Pick<InstanceRow, 'status' | 'machine_state' | 'desired' | 'zero_stopped_at'>;

/**
 * By what its cloud shows and what was accepted, never by a daemon's word: it costs from the cloud's first "running" to the
 * accepted stop or terminate. `isOpen`: it has begun to, and a cloud that shows it otherwise for a moment does not end that.
 */
export function rateOf(row: Metered, isOpen: boolean): Rate {
  const isHeld = row.zero_stopped_at !== null;
  switch (row.status) {
    case 'creating':
      return !isHeld && (isOpen || row.machine_state === 'running') ? 'running' : null;
    case 'powering on':
      return !isHeld && (isOpen || row.machine_state === 'running') ? 'running' : 'stopped';
    case 'online':
    case 'rebooting':
    case 'unresponsive':
      return isHeld ? 'stopped' : 'running';
    case 'powering off':
    case 'stopped':
      return 'stopped';
    case 'error':
      return inError(row, isHeld);
    default:
      return null;
  }
}

/** What its cloud still shows costs; what it lost or broke does not. */
function inError({ machine_state, desired }: Metered, isHeld: boolean): Rate {
  if (machine_state !== 'running' && machine_state !== 'stopped') return null;
  return machine_state === 'running' && desired === 'running' && !isHeld ? 'running' : 'stopped';
}
