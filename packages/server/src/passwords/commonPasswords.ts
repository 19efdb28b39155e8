import { BRAND, CURRENCY } from '@stagi/contract/brand.ts';
import { text } from '@stagi/contract/text.ts';
import { dictionary } from '@zxcvbn-ts/language-common';
import { invalid } from '../http/errors.ts';

/** What an attacker would try first on this site. */
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
 * Some 49,000 leaked passwords (zxcvbn's list). Loaded with the first password that is chosen, as it takes time.
 */
function common(): ReadonlySet<string> {
  read ??= new Set([...dictionary['passwords-common'], ...PRODUCT_WORDS.map((word) => word.toLowerCase())]);
  return read;
}

/** Refuses a common password in any letter case, also with up to four digits or signs behind it. */
export function refuseCommonPassword(password: string, field: string): void {
  const lower = password.toLowerCase();
  const bare = lower.replace(/[^\p{L}]{1,4}$/u, '');
  if (common().has(lower) || common().has(bare)) {
    throw invalid(text('This password is too common. Choose another one.'), field);
  }
}
