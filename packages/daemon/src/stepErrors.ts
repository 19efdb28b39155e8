import { DockerError } from './dockerErrors.ts';
import { errorText } from './log.ts';
import { PolicyError } from './policyError.ts';
import { TransferError } from './transferError.ts';

/** Whether the step that threw this can never succeed. */
export function isPermanent(error: unknown): boolean {
  if (error instanceof TransferError) return error.retry === 'final';
  return error instanceof PolicyError || (error instanceof DockerError && error.permanent);
}

/** For the person who created the container: without Docker's own words where there are better ones. */
export function messageOf(error: unknown): string {
  return error instanceof DockerError ? error.message : errorText(error);
}
