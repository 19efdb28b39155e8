import { CallError } from '@stagi/contract/errors.ts';
import { expect } from 'vitest';

/** The error of a call that must be refused. */
export const refusal = (work: Promise<unknown>): Promise<CallError> =>
  work.then(
    () => expect.unreachable('the call should have been refused'),
    (error: unknown) => {
      if (!(error instanceof CallError)) throw error;
      return error;
    },
  );
