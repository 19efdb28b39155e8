import type { Language } from '@stagi/contract/user.ts';

/** Each language in its own words. */
export const LANGUAGE_NAME: Record<Language, string> = { en: 'English', cn: '简体中文', ru: 'Русский', tr: 'Türkçe' };
