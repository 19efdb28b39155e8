import { GENERIC_ERROR } from '@stagi/contract/errors.ts';
import { isOverload, PublicError, unavailable } from '../http/errors.ts';

/** Why git gets nothing. The status is for HTTP; over SSH the message alone is shown. */
export class GitRefusal extends Error {
  readonly status: number;
  readonly retryAfter: number | null;
  constructor(status: number, message: string, retryAfter: number | null = null) {
    super(message);
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

/** In the words of git, which its clients show where they expect objects. */
export class NotOurRef extends GitRefusal {
  constructor(hash: string) {
    super(403, `upload-pack: not our ref ${hash}`);
  }
}

/** The same for a project that is absent, of a workspace that is not the caller's, or not permitted to them. */
export const noSuchProject = (): GitRefusal =>
  new GitRefusal(404, 'There is no such project, or you may not use it this way.');

/** What the client is told. Whoever sees 500 logs the error. */
export function refusalOf(error: unknown): GitRefusal {
  if (error instanceof GitRefusal) return error;
  const known = isOverload(error) ? unavailable(error) : error;
  if (known instanceof PublicError) return new GitRefusal(known.status, known.message, known.retryAfter);
  return new GitRefusal(500, GENERIC_ERROR);
}
