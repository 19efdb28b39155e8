import { randomBytes, randomInt } from 'node:crypto';

export const WRONG_CODE = 'Incorrect or expired code';

export function newCode(): string {
  return randomInt(0, 100_000_000).toString().padStart(8, '0');
}

/** Names what a code was mailed for: a code for something else does not end it. */
export function newFlow(): string {
  return randomBytes(24).toString('base64url');
}
