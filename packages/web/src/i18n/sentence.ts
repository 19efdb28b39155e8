import { LOCALE } from '@stagi/contract/languages.ts';
import { currentLanguage } from './i18n.ts';

const ENDS = /[.!?。！？…]$/;

/** A text that others follow: with a full stop, unless it ends already. */
export function sentence(said: string): string {
  if (said === '' || ENDS.test(said)) return said;
  return said + (LOCALE[currentLanguage()] === 'zh' ? '。' : '.');
}
