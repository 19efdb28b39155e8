import { createHash } from 'node:crypto';

/** A code is stored as its hash, as it is as good as a password. */
export const hashOfInvite = (code: string): Buffer => createHash('sha256').update(code).digest();
