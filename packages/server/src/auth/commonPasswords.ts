import { BRAND, CURRENCY } from '@stagi/contract/brand.ts';
import { dictionary } from '@zxcvbn-ts/language-common';
import { invalid } from '../http/errors.ts';

/** What somebody who guesses tries first here. */
const PRODUCT_WORDS = [
  BRAND,
  CURRENCY,
  `${BRAND}${BRAND}`,
  `${BRAND}cloud`,
  `${BRAND}admin`,
  `${BRAND}password`,
  'gpucloud',
  'cloudgpu',
];

let read: ReadonlySet<string> | null = null;

/**
 * Some 49,000 passwords of leaks, the most common first (zxcvbn's list); all that the rules of length let by are refused.
 * Unpacked with the first password that is chosen, not by every start.
 */
function common(): ReadonlySet<string> {
  read ??= new Set([...dictionary['passwords-common'], ...PRODUCT_WORDS.map((word) => word.toLowerCase())]);
  return read;
}

/** Refuses what anybody would guess: a common password in any case, also with up to four digits or signs behind it. */
export function refuseCommon(password: string, field: string): void {
  const lower = password.toLowerCase();
  const bare = lower.replace(/[^\p{L}]{1,4}$/u, '');
  if (common().has(lower) || common().has(bare)) {
    throw invalid('This password is too common. Choose another one.', field);
  }
}
