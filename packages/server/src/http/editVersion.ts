import { createHash } from 'node:crypto';
import { text } from '@stagi/contract/text.ts';
import { conflict } from './errors.ts';

/** Equal as long as these values are: what a form began with, and what is stored when it is saved. */
export function versionOf(values: Record<string, unknown>): string {
  return createHash('sha256').update(JSON.stringify(values)).digest('base64url').slice(0, 16);
}

/**
 * Refuses the edit of what somebody else has changed since it was read: 409. Without a version it is made in any case. To
 * be called within the lock of the row.
 */
export function requireVersion(asked: string | undefined, current: string | undefined): void {
  if (asked !== undefined && asked !== current)
    throw conflict(text('Somebody else has changed this meanwhile. Look at it again before you save.'));
}
