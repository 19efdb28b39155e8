import { LANGUAGES, type Language } from '@stagi/contract/user.ts';

/** The tag that browsers, `Intl` and i18next understand; `cn` is our own word for it. */
export const LOCALE: Record<Language, string> = { en: 'en', cn: 'zh', ru: 'ru', tr: 'tr' };

/** Each language in its own words. */
export const LANGUAGE_NAME: Record<Language, string> = { en: 'English', cn: '简体中文', ru: 'Русский', tr: 'Türkçe' };

export function languageOf(locale: string): Language {
  const base = locale.toLowerCase().split('-')[0];
  return LANGUAGES.find((language) => LOCALE[language] === base || language === base) ?? 'en';
}

/** The first of the browser's languages that exists here, else English. */
export function browserLanguage(preferred: readonly string[]): Language {
  const known = preferred.find((locale) => languageOf(locale) !== 'en' || locale.toLowerCase().startsWith('en'));
  return known ? languageOf(known) : 'en';
}
