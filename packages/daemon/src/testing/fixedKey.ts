import type { KeyObject } from 'node:crypto';
import type { Keyring } from '../keyring.ts';

/** A keyring with one key, which is never rotated. */
export function fixedKey(key: KeyObject): Keyring {
  return {
    current: () => key,
    accepted: async () => {},
    rejected: () => {},
    startRotation: () => Promise.reject(new Error('this key is never replaced')),
    finishRotation: async () => {},
  };
}
