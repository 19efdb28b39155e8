export const LANGUAGES = ['en', 'cn', 'ru', 'tr'] as const;
export type Language = (typeof LANGUAGES)[number];

/** The language tag for browsers, `Intl` and mails; `cn` is our own code. */
export const LOCALE: Record<Language, string> = { en: 'en', cn: 'zh', ru: 'ru', tr: 'tr' };

export function languageOf(locale: string): Language {
  const base = locale.toLowerCase().split('-')[0];
  return LANGUAGES.find((language) => LOCALE[language] === base || language === base) ?? 'en';
}

/** The first preferred language that is supported, else English. */
export function preferredLanguage(preferred: readonly string[]): Language {
  const known = preferred.find((locale) => languageOf(locale) !== 'en' || locale.toLowerCase().startsWith('en'));
  return known ? languageOf(known) : 'en';
}

/** The same for the header `Accept-Language` (RFC 9110, section 12.5.4): by weight, then in the order written. */
export function acceptedLanguage(header: string | undefined): Language {
  const weighed = (header ?? '').split(',').map((part) => {
    const [locale = '', ...parameters] = part.split(';').map((word) => word.trim());
    const weight = Number(parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? 1);
    return { locale, weight: Number.isFinite(weight) ? weight : 0 };
  });
  const wanted = weighed.filter(({ locale, weight }) => locale !== '' && weight > 0);
  return preferredLanguage(wanted.sort((a, b) => b.weight - a.weight).map(({ locale }) => locale));
}
