import { type Language, LOCALE, languageOf, preferredLanguage } from '@stagi/contract/languages.ts';
import i18next from 'i18next';
import { createContext, useContext, useMemo, useSyncExternalStore } from 'react';
import { loadChunk } from '../lazyChunks.ts';
import { matchTemplate, templatePatterns } from './messageTemplates.ts';

export type Values = Record<string, string | number>;
/**
 * Translates an English source text; `{{name}}` takes its value, `count` picks the plural, `context` one of several
 * meanings.
 */
export type T = (text: string, values?: Values) => string;

const STORED = 'language';

const TEXTS: Record<Exclude<Language, 'en'>, () => Promise<{ default: Record<string, string> }>> = {
  cn: () => import('./cn.json', { with: { type: 'json' } }),
  ru: () => import('./ru.json', { with: { type: 'json' } }),
  tr: () => import('./tr.json', { with: { type: 'json' } }),
};

/** The plurals that first pages of visitors need; the others come with the pages of signed-in people. */
const ENGLISH = {
  'Try again in {{count}} seconds_one': 'Try again in one second',
  'Try again in {{count}} seconds_other': 'Try again in {{count}} seconds',
  '{{count}} models_one': '{{count}} model',
  '{{found}} of {{count}} models_one': '{{found}} of {{count}} model',
  'Show {{count}} models_one': 'Show {{count}} model',
};
let englishForms: Record<string, string> | null = null;

/** Whichever comes first, this or the beginning of translation. */
export function addEnglishPlurals(forms: Record<string, string>): void {
  englishForms = forms;
  if (!i18next.isInitialized) return;
  i18next.addResourceBundle('en', 'translation', forms);
  kept = keptFor('');
}

/** Resolves when the language (the visitor's own by default) is at hand; screens may be drawn then without a change of words. */
export async function startTranslation(language: Language = ownLanguage()): Promise<void> {
  await i18next.init({
    lng: 'en',
    fallbackLng: 'en',
    keySeparator: false,
    nsSeparator: false,
    returnEmptyString: false,
    interpolation: { escapeValue: false },
    resources: { en: { translation: ENGLISH } },
  });
  if (englishForms) i18next.addResourceBundle('en', 'translation', englishForms);
  await showLanguage(language);
}

/** Of the address, which search engines name; else the chosen one, else the browser's. */
function ownLanguage(): Language {
  const stored = new URLSearchParams(window.location.search).get('lang') ?? localStorage.getItem(STORED);
  return stored ? languageOf(stored) : preferredLanguage(navigator.languages);
}

export function currentLanguage(): Language {
  return languageOf(i18next.language ?? 'en');
}

/** Whether the person has chosen a language here, rather than the browser. */
export function hasChosenLanguage(): boolean {
  return localStorage.getItem(STORED) !== null;
}

/** Changes every text on the screen without a reload, and remembers it. */
export async function chooseLanguage(language: Language): Promise<void> {
  localStorage.setItem(STORED, language);
  await showLanguage(language);
}

/** Changes every text without remembering it. */
export async function showLanguage(language: Language): Promise<void> {
  if (language !== 'en' && !i18next.hasResourceBundle(LOCALE[language], 'translation')) {
    const texts = await loadChunk(TEXTS[language]);
    i18next.addResourceBundle(LOCALE[language], 'translation', texts.default);
  }
  await i18next.changeLanguage(LOCALE[language]);
  if (typeof document !== 'undefined') document.documentElement.lang = LOCALE[language];
}

/** Draws the component anew when the language changes. */
export const useT = (): T => useContext(TranslationContext);

/** What `App` hands down: one listener for all texts, as a page of rows has hundreds. */
export const TranslationContext = createContext<T>((text, values) => t(text, values));

/** A new function for each language, so that what was memoized with the old one is made anew. */
export function useTranslator(): T {
  const language = useSyncExternalStore(subscribe, shownLanguage, shownLanguage);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the language is what the function reads
  return useMemo<T>(() => (text, values) => t(text, values), [language]);
}

const shownLanguage = () => i18next.language;

function subscribe(listener: () => void): () => void {
  i18next.on('languageChanged', listener);
  return () => i18next.off('languageChanged', listener);
}

/** For code outside components; inside them `useT` redraws when the language changes. */
export const t: T = (text, values) => (values ? fill(text, values) : words(text, () => translate(text)));

function fill(text: string, values: Values): string {
  const { count, context = '' } = values;
  const form = typeof count === 'number' ? plurals().select(count) : '';
  const template = words(`${form}\0${context}\0${text}`, () => i18next.t(text, { ...values, skipInterpolation: true }));
  return template.replace(/\{\{(\w+)\}\}/g, (place, name: string) =>
    // A count is a number to be read; others may be ports or ids, which nobody writes with thousands apart.
    name === 'count' && typeof count === 'number' ? numbers().format(count) : String(values[name] ?? place),
  );
}

/** More than there are texts: only messages of servers and daemons could make it grow for ever. */
const MOST_KEPT = 4000;
let kept = keptFor('');

/** A page of rows says the same few words over and over; to find them takes the library 20 steps each. */
function words(key: string, find: () => string): string {
  const known = keptNow().words;
  const found = known.get(key);
  if (found !== undefined) return found;
  if (known.size > MOST_KEPT) known.clear();
  const made = find();
  known.set(key, made);
  return made;
}

/** Made at their first use: each costs a slow phone 60 ms. */
const plurals = (now = keptNow()): Intl.PluralRules => (now.plurals ??= new Intl.PluralRules(now.language));
const numbers = (now = keptNow()): Intl.NumberFormat => (now.numbers ??= new Intl.NumberFormat(now.language));

function keptNow() {
  const language = i18next.language ?? 'en';
  if (kept.language !== language) kept = keptFor(language);
  return kept;
}

interface Kept {
  language: string;
  words: Map<string, string>;
  plurals?: Intl.PluralRules;
  numbers?: Intl.NumberFormat;
}

function keptFor(language: string): Kept {
  return { language, words: new Map() };
}

function translate(text: string): string {
  const filled = i18next.language === 'en' || i18next.exists(text) ? null : matchTemplate(text, knownPatterns());
  return filled ? i18next.t(filled.template, filled.values) : i18next.t(text);
}

let patterns: { language: string; of: ReturnType<typeof templatePatterns> } | null = null;

function knownPatterns(): ReturnType<typeof templatePatterns> {
  if (patterns?.language !== i18next.language) {
    const texts: Record<string, string> = i18next.getResourceBundle(i18next.language, 'translation') ?? {};
    patterns = { language: i18next.language, of: templatePatterns(Object.keys(texts)) };
  }
  return patterns.of;
}
