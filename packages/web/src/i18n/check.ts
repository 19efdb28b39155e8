import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LOCALE } from '@stagi/contract/languages.ts';
import { literalsIn } from './literals.ts';
import { serverTexts, unmarkedServerTexts } from './serverScan.ts';
import { untranslatedIn } from './visibleScan.ts';

const SRC = join(import.meta.dirname, '..');
const PACKAGES = join(SRC, '../..');
const LANGUAGES = ['en', 'cn', 'ru', 'tr'] as const;

/** One line for every text that a language lacks or got wrong, or that no language is asked for; empty when the languages are complete. Run by `npm run check`. */
export function missingTranslations(): string[] {
  const texts = neededTexts();
  return [...LANGUAGES.flatMap((language) => lacking(language, texts)), ...unmarkedTexts(), ...textsOutsideOfCalls()];
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
  return new Set([...sources().flatMap(({ code }) => literalsIn(code)), ...serverTexts(PACKAGES)]);
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

function unmarkedTexts(): string[] {
  return unmarkedServerTexts(PACKAGES).map(({ file, literal }) => `sent without text(): ${literal} (${file})`);
}

/** Words that are the same in every language, or that are translated where they are shown, by the file they stand in. */
const NOT_LANGUAGE: Record<string, readonly string[]> = {
  'features/containers/create/ContainerFields.tsx': ['python -u train.py --epochs 10'],
  'features/containers/create/HealthCheckFields.tsx': ['curl -f localhost:8000'],
  'features/containers/create/DirectoryRows.tsx': ['/models'],
  'features/tasks/form/CommitField.tsx': ['main'],
  'features/tasks/form/InputPathField.tsx': ['datasets/'],
  'features/tasks/form/TaskForm.tsx': [
    'pip install -r requirements.txt && python train.py --data $STAGI_INPUT_PATH',
    '/input',
    '/output',
  ],
  'launchForm/EnvRows.tsx': ['NAME'],
  'launchForm/ImageField.tsx': ['ubuntu:24.04'],
  // The mark of the error stream, as wide as a log line has room for.
  'logs/LogRowView.tsx': ['err'],
  'features/instances/selfHosted/SelfHostedOverview.tsx': ['systemctl status stagid', '/etc/stagi/policy.json'],
  'features/sshKeys/AddKeyForm.tsx': ['cat ~/.ssh/id_ed25519.pub', 'ssh-ed25519 AAAA… you@laptop'],
  'features/storages/objects/ObjectSnippets.tsx': ['AWS CLI', 'rclone', 'curl'],
  'layouts/socialSites.tsx': ['Discord', 'GitHub', 'Instagram', 'LinkedIn', 'Reddit', 'Telegram', 'YouTube'],
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
    .filter(
      (name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$|^i18n\/(check|literals|serverScan|visibleScan)\.ts$/.test(name),
    )
    .map((name) => ({ name, code: readFileSync(join(SRC, name), 'utf8') }));
}
