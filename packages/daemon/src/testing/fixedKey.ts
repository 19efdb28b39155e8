import type { KeyObject } from 'node:crypto';
import type { Keyring } from '../keyring.ts';

/** One key that is never replaced. */
export function fixedKey(key: KeyObject): Keyring {
  return {
    now: () => key,
    accepted: async () => {},
    refused: () => {},
    offer: () => Promise.reject(new Error('this key is never replaced')),
    confirmed: async () => {},
  };
}
