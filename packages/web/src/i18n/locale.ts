import type { Language } from '@stagi/contract/languages.ts';

/** Each language in its own words. */
export const LANGUAGE_NAME: Record<Language, string> = { en: 'English', cn: '简体中文', ru: 'Русский', tr: 'Türkçe' };
