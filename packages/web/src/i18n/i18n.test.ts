import './englishPlurals.ts';
import { acceptedLanguage, LANGUAGES, languageOf, preferredLanguage } from '@stagi/contract/languages.ts';
import i18next from 'i18next';
import { afterAll, expect, it } from 'vitest';
import { missingTranslations, unusedTranslations } from './check.ts';
import chinese from './cn.json' with { type: 'json' };
import { showLanguage, startTranslation, t } from './i18n.ts';
import { literalsIn } from './literals.ts';
import { matchTemplate, templatePatterns } from './messageTemplates.ts';
import { untranslatedIn } from './visibleScan.ts';

// Other files of this worker speak English.
afterAll(() => showLanguage('en'));

it('has every text in every language, and none that is used no more', () => {
  expect(missingTranslations()).toEqual([]);
  expect(unusedTranslations()).toEqual([]);
});

it('takes the first of the browser’s languages that exists, else English', () => {
  expect(preferredLanguage(['de-DE', 'ru-RU', 'en'])).toBe('ru');
  expect(preferredLanguage(['zh-TW', 'en'])).toBe('cn');
  expect(preferredLanguage(['en-GB', 'tr'])).toBe('en');
  expect(preferredLanguage(['de', 'fr'])).toBe('en');
  expect(languageOf('cn')).toBe('cn');
});

it('reads the header of accepted languages by weight', () => {
  expect(acceptedLanguage('de, ru;q=0.9, en;q=0.95')).toBe('en');
  expect(acceptedLanguage('de;q=1, tr-TR;q=0.8, *;q=0.1')).toBe('tr');
  expect(acceptedLanguage('zh-CN,zh;q=0.9')).toBe('cn');
  expect(acceptedLanguage('ru;q=0, en')).toBe('en');
  expect(acceptedLanguage(';q=x,,')).toBe('en');
  expect(acceptedLanguage(undefined)).toBe('en');
});

it('finds the text that a filled message was made from', () => {
  const patterns = templatePatterns(['CPUs: this server allows at most {{cpus}}', '{{from}}–{{to}}']);
  expect(matchTemplate('CPUs: this server allows at most 4', patterns)).toEqual({
    template: 'CPUs: this server allows at most {{cpus}}',
    values: { cpus: '4' },
  });
  expect(matchTemplate('1–2', patterns)).toBeNull();
});

it('reads the texts out of calls, choices included', () => {
  const code = `t('A, (b)', { a: 'no' }) t(x ?? 'None given') t(kind === 'not this' ? "One" : 'Two') text('It’s \\'so\\'') start('no')`;
  expect(literalsIn(code)).toEqual(['A, (b)', 'None given', 'One', 'Two', "It’s 'so'"]);
});

it('finds words that are shown without being translated', () => {
  const code = `
    const row = { label: 'In a row', key: 'not shown', title: text('said') };
    export const A = () => <a title="On hover" href="no" aria-label={open ? 'Close it' : t('Open')}>
      Between tags {t('Said')} {many && 'after all'} {name ?? \`and \${more} so\`} GPU · 80 GB {/* no */}
    </a>;`;
  expect(untranslatedIn(code).sort()).toEqual(
    ['In a row', 'On hover', 'Close it', 'Between tags', 'after all', 'and', 'so'].sort(),
  );
});

it('tells apart what has one word in English and several elsewhere', async () => {
  expect(literalsIn("t('Open', { context: 'action' }) + t('Open') + t('In {{time}}', { time })")).toEqual([
    'Open_action',
    'Open',
    'In {{time}}',
  ]);
  await startTranslation('en');
  expect([t('Open', { context: 'action' }), t('Open')]).toEqual(['Open', 'Open']);
  await showLanguage('ru');
  expect([t('Open', { context: 'action' }), t('Open')]).toEqual(['Открыть', 'Действует']);
});

it('fills every text as the library does, in the plural of every language', async () => {
  const texts = Object.keys(chinese).filter((text) => text.includes('{{'));
  await startTranslation('en');
  let looks = 0;
  for (const language of LANGUAGES) {
    await showLanguage(language);
    for (const text of texts)
      for (const count of [0, 1, 2, 5, 21]) {
        const names = [...text.matchAll(/\{\{(\w+)\}\}/g)].map((match) => match[1] ?? '');
        const values = Object.fromEntries(names.map((name) => [name, name === 'count' ? count : `<${name} $1>`]));
        expect(t(text, values)).toBe(i18next.t(text, values));
        looks += 1;
      }
  }
  console.log(`filled texts: n = ${looks} of ${texts.length} texts`);
  expect(looks).toBeGreaterThan(0);
});

it('sets the thousands of a count apart as its language does, and those of nothing else', async () => {
  const shown: string[] = [];
  for (const language of LANGUAGES) {
    await showLanguage(language);
    const text = '{{count}} sessions have been ended';
    shown.push(t(text, { count: 1234567.5 }).match(/\d[\d\p{Zs},.]+\d/u)?.[0] ?? '');
    expect(t('{{cpus}} of {{count}} CPUs', { cpus: 12345, count: 2 })).toContain('12345');
  }
  expect(shown).toEqual(['1,234,567.5', '1,234,567.5', '1\u00a0234\u00a0567,5', '1.234.567,5']);
});
