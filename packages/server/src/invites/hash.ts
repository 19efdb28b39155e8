import { createHash } from 'node:crypto';

/** What is stored of a code of an invitation: it is as good as a password. */
export const hashOfInvite = (code: string): Buffer => createHash('sha256').update(code).digest();
