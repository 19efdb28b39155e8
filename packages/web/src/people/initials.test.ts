import { expect, it } from 'vitest';
import { initials } from './initials.ts';

it('makes initials of names in any script', () => {
  expect(initials('Ada Lovelace')).toBe('AL');
  expect(initials('  Жанна  д’Арк ')).toBe('ЖД');
  expect(initials('王')).toBe('王');
  expect(initials('')).toBe('');
});
