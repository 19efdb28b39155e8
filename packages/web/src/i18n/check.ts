import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LOCALE } from '@stagi/contract/languages.ts';
import { SERVER_MESSAGES } from './serverMessages.ts';
import { serverLiterals, shapeOf } from './serverScan.ts';
import { untranslatedIn } from './visibleScan.ts';

const SRC = join(import.meta.dirname, '..');
const LANGUAGES = ['en', 'cn', 'ru', 'tr'] as const;

/** One line for every text that a language lacks or got wrong, or that no language is asked for; empty when the languages are complete. Run by `npm run check`. */
export function missingTranslations(): string[] {
  const texts = neededTexts();
  return [
    ...LANGUAGES.flatMap((language) => lacking(language, texts)),
    ...unlistedServerMessages(),
    ...textsOutsideOfCalls(),
  ];
}

/** Translations of texts that exist no more. */
export function unusedTranslations(): string[] {
  const needed = new Set(
    [...neededTexts()].flatMap((text) => LANGUAGES.flatMap((language) => keysFor(language, text))),
  );
  return LANGUAGES.flatMap((language) =>
    [...translations(language).keys()].filter((key) => !needed.has(key)).map((key) => `${language}: ${key}`),
  );
}

/** Every English text that may be shown: those in `t('…')` and `text('…')`, and those that the server sends. */
export function neededTexts(): Set<string> {
  return new Set([...sources().flatMap(({ code }) => literalsIn(code)), ...SERVER_MESSAGES]);
}

function lacking(language: (typeof LANGUAGES)[number], texts: Set<string>): string[] {
  const known = translations(language);
  const problems: string[] = [];
  for (const text of texts) {
    for (const key of keysFor(language, text)) {
      const translation = known.get(key);
      if (!translation) problems.push(`${language}: ${key}`);
      else if (!samePlaceholders(text, translation)) problems.push(`${language}: placeholders differ: ${key}`);
    }
  }
  return problems;
}

/** The keys a text has in a language: one for each plural form when it counts, none in English when it does not. */
function keysFor(language: (typeof LANGUAGES)[number], text: string): string[] {
  if (text.includes('{{count}}')) {
    return new Intl.PluralRules(LOCALE[language]).resolvedOptions().pluralCategories.map((form) => `${text}_${form}`);
  }
  return language === 'en' ? [] : [text];
}

function translations(language: string): Map<string, string> {
  return new Map(Object.entries(JSON.parse(readFileSync(join(SRC, `i18n/${language}.json`), 'utf8'))));
}

/** A plural form may leave the number out ("one day"); nothing else may be lost or added. */
function samePlaceholders(text: string, translation: string): boolean {
  const names = (from: string) => new Set([...from.matchAll(/\{\{(\w+)\}\}/g)].map((match) => match[1]));
  const wanted = names(text);
  const given = names(translation);
  return (
    [...given].every((name) => wanted.has(name)) && [...wanted].every((name) => name === 'count' || given.has(name))
  );
}

const LITERAL = /([!=]==\s*)?('(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`[^`$]*`)/g;

/** The texts in the first argument of every `t(…)` and `text(…)`, also those of a choice: `t(reason ?? 'None given')`. */
export function literalsIn(code: string): string[] {
  return [...code.matchAll(/\b(?:t|text)\(/g)].flatMap((call) => {
    const argument = firstArgument(code, (call.index ?? 0) + call[0].length);
    return [...argument.matchAll(LITERAL)].filter((match) => !match[1]).map((match) => unquoted(match[2] ?? ''));
  });
}

function firstArgument(code: string, from: number): string {
  let depth = 0;
  let quote = '';
  for (let at = from; at < code.length; at += 1) {
    const sign = code[at] ?? '';
    if (quote !== '') {
      if (sign === '\\') at += 1;
      else if (sign === quote) quote = '';
    } else if (`'"\``.includes(sign)) quote = sign;
    else if ('([{'.includes(sign)) depth += 1;
    else if (depth > 0 && ')]}'.includes(sign)) depth -= 1;
    else if (sign === ',' || sign === ')') return code.slice(from, at);
  }
  return code.slice(from);
}

function unquoted(literal: string): string {
  return literal.slice(1, -1).replace(/\\(['"`\\])/g, '$1');
}

function unlistedServerMessages(): string[] {
  const listed = new Set(SERVER_MESSAGES.map(shapeOf));
  return serverLiterals(join(SRC, '../..'))
    .filter(({ literal }) => !listed.has(shapeOf(literal)))
    .map(({ file, literal }) => `not in serverMessages.ts: ${literal} (${file})`);
}

/** Words that are the same in every language, or that are translated where they are shown, by the file they stand in. */
const NOT_LANGUAGE: Record<string, readonly string[]> = {
  'features/containers/create/CreateContainerForm.tsx': ['python -u train.py --epochs 10'],
  'features/containers/create/DirectoryRows.tsx': ['/models'],
  'features/containers/create/EnvRows.tsx': ['NAME'],
  'features/containers/create/ImageField.tsx': ['ubuntu:24.04'],
  // The mark of the error stream, as wide as a log line has room for.
  'features/containers/logs/LogRowView.tsx': ['err'],
  'features/selfHosted/ServerOverview.tsx': ['systemctl status stagid'],
  'features/sshKeys/AddKeyForm.tsx': ['cat ~/.ssh/id_ed25519.pub', 'ssh-ed25519 AAAA… you@laptop'],
  'layouts/social.tsx': ['Discord', 'GitHub', 'Instagram', 'LinkedIn', 'Reddit', 'Telegram', 'YouTube'],
  'layouts/useRoute.ts': ['Page not found'],
  'ui/theme.ts': ['field-label', 'field-error', 'field-hint', 'dialog-title'],
};

function textsOutsideOfCalls(): string[] {
  const found = sources()
    .filter(({ name }) => !name.startsWith('features/kit/'))
    .flatMap(({ name, code }) => untranslatedIn(code).map((words) => ({ name, words })));
  const unknown = found.filter(({ name, words }) => !NOT_LANGUAGE[name]?.includes(words));
  const gone = Object.entries(NOT_LANGUAGE).flatMap(([name, all]) =>
    all
      .filter((words) => !found.some((one) => one.name === name && one.words === words))
      .map((words) => `no longer in ${name}: ${words}`),
  );
  return [...unknown.map(({ name, words }) => `shown without t(): ${words} (${name})`), ...gone];
}

function sources(): { name: string; code: string }[] {
  return readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$|^i18n\/(check|serverScan|visibleScan)\.ts$/.test(name))
    .map((name) => ({ name, code: readFileSync(join(SRC, name), 'utf8') }));
}
