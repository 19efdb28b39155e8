import { expect, it } from 'vitest';
import { literalsIn, missingTranslations } from './check.ts';
import { patternsOf, unfilled } from './filled.ts';
import { browserLanguage, languageOf } from './locale.ts';

it('has every text in every language', () => {
  expect(missingTranslations()).toEqual([]);
});

it('takes the first of the browser’s languages that exists, else English', () => {
  expect(browserLanguage(['de-DE', 'ru-RU', 'en'])).toBe('ru');
  expect(browserLanguage(['zh-TW', 'en'])).toBe('cn');
  expect(browserLanguage(['en-GB', 'tr'])).toBe('en');
  expect(browserLanguage(['de', 'fr'])).toBe('en');
  expect(languageOf('cn')).toBe('cn');
});

it('finds the text that a filled message was made from', () => {
  const patterns = patternsOf(['This server allows at most {{cpus}} CPUs', '{{from}}–{{to}}']);
  expect(unfilled('This server allows at most 4 CPUs', patterns)).toEqual({
    template: 'This server allows at most {{cpus}} CPUs',
    values: { cpus: '4' },
  });
  expect(unfilled('1–2', patterns)).toBeNull();
});

it('reads the texts out of calls, choices included', () => {
  const code = `t('A, (b)', { a: 'no' }) t(x ?? 'None given') t(kind === 'not this' ? "One" : 'Two') text('It’s \\'so\\'') start('no')`;
  expect(literalsIn(code)).toEqual(['A, (b)', 'None given', 'One', 'Two', "It’s 'so'"]);
});
