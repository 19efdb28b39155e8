import { expect, it } from 'vitest';
import { matching } from './textMatch.ts';

it('finds by every word typed, the beginning of a word before its middle, without case and accents', () => {
  const found = (query: string, ...texts: string[]) => matching(texts, query, (one) => [one]);
  expect(found('con', 'Beacon', 'Own container', 'Containers')).toEqual(['Containers', 'Own container', 'Beacon']);
  expect(found('key ssh', 'SSH keys', 'Keyboard')).toEqual(['SSH keys']);
  expect(found('turkce', 'Türkçe')).toEqual(['Türkçe']);
  expect(found('ТЕМ', 'Тёмная тема', 'Язык')).toEqual(['Тёмная тема']);
  expect(found('a.b(', 'a.b(c', 'axb(c')).toEqual(['a.b(c']);
  expect(found('', 'a', 'b')).toEqual(['a', 'b']);
});
