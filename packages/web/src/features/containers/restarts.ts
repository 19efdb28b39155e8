import type { Container } from '@stagi/contract/containers.ts';

type Restarted = Pick<Container, 'status' | 'restarts'>;

/** The status on screens: one that ends again and again runs only between its ends. */
export function shownStatus({ status, restarts }: Restarted): string {
  if (!restarts?.isLooping) return status;
  return restarts.exitCode === 0 ? 'restarting' : 'crashing';
}

/** For the header: how one in a loop ended stands in the note below. */
export function withLoop(container: Container): Omit<Container, 'status'> & { status: string } {
  const statusReason = container.restarts?.isLooping ? null : container.statusReason;
  return { ...container, status: shownStatus(container), statusReason };
}

const DONE_RESTARTS = 3;

/** Its command is done each time, and is started again for nothing. */
export function isDoneEachTime({ restarts }: Restarted): boolean {
  return restarts?.isLooping === true && restarts.exitCode === 0 && restarts.count >= DONE_RESTARTS;
}
