import type { Container } from '@stagi/contract/containers.ts';

type Restarted = Pick<Container, 'status' | 'restarts'>;

/** The status on screens: one that ends again and again runs only between its ends. */
export function shownStatus({ status, restarts }: Restarted): string {
  if (!restarts?.isLooping) return status;
  return restarts.exitCode === 0 ? 'restarting' : 'crashing';
}

const DONE_RESTARTS = 3;

/** Its command is done each time, and is started again for nothing. */
export function isDoneEachTime({ restarts }: Restarted): boolean {
  return restarts !== null && restarts.isLooping && restarts.exitCode === 0 && restarts.count >= DONE_RESTARTS;
}
