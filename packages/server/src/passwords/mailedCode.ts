import { randomBytes, randomInt } from 'node:crypto';
import { text } from '@stagi/contract/text.ts';

export const WRONG_CODE = text('Incorrect or expired code');

export function newCode(): string {
  return randomInt(0, 100_000_000).toString().padStart(8, '0');
}

/** Identifies the request that a code was mailed for: no other code completes it. */
export function newFlowId(): string {
  return randomBytes(24).toString('base64url');
}
