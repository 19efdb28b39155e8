import type { TextEncoding } from '@stagi/contract/projectCode.ts';

/** Names of standards, the same in every language. */
export const ENCODING_NAMES: Record<TextEncoding, string> = { 'utf-16le': 'UTF-16 LE', 'utf-16be': 'UTF-16 BE' };
